#include "replicator/elasticsearch/bulk/bulk_delivery.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <utility>

namespace lockstep {
namespace {

// Of the rest, while searching for the item to blame.
constexpr std::size_t kMostPieces = 256;
// So many documents that failed by themselves, one in so many of those that were sent so, are not to blame.
constexpr std::size_t kManyAlone = 4;
constexpr std::size_t kManyOf = 5;
constexpr int kMostLifts = 4;
// Documents that are answered 429 one after the other: then the server is busy, and the others wait, too.
constexpr std::size_t kBusyInTurn = 2;

void sort_by_item(std::vector<RefusedItem>& refusals) {
  std::sort(refusals.begin(), refusals.end(),
            [](const RefusedItem& a, const RefusedItem& b) { return a.item < b.item; });
}

}  // namespace

void PieceLimit::came_through() {
  items_ = std::min(fixed_, items_ > kUnlimited / 2 ? kUnlimited : items_ * 2);
}

void PieceLimit::fix(std::size_t items) {
  fixed_ = std::max<std::size_t>(1, std::min(items, fixed_ / 2));
  items_ = std::min(items_, fixed_);
}

void PieceLimit::lift() {
  items_ = fixed_ = kUnlimited;
}

void PieceLimit::too_much(std::size_t piece_items) {
  items_ = std::max<std::size_t>(1, std::min(items_, piece_items) / 2);
}

void PieceLimit::too_large(std::size_t piece_bytes) {
  bytes_ = std::max<std::size_t>(1, std::min(bytes_, piece_bytes) / 2);
}

BulkDelivery::BulkDelivery(BulkRequest request)
    : request_(std::move(request)),
      outcomes_(request_.items().size()),
      unsettled_(request_.items().size()),
      may_land_late_(request_.items().size()),
      failed_alone_(request_.items().size()),
      unknown_(request_.items().size()) {
  to_send_.resize(unknown_);
  std::iota(to_send_.begin(), to_send_.end(), std::size_t{0});
}

const BulkRequest& BulkDelivery::next_piece(std::size_t most_bytes) {
  assert(has_piece() && on_wire_.empty());
  most_bytes = std::min(most_bytes, limit_.bytes());
  piece_bytes_ = 0;
  while (!to_send_.empty() && on_wire_.size() < limit_.items()) {
    const auto [items, bytes] = next_together();
    if (!on_wire_.empty() && (piece_bytes_ + bytes > most_bytes || on_wire_.size() + items > limit_.items()))
      break;
    piece_bytes_ += bytes;
    for (std::size_t i = 0; i < items; ++i) {
      on_wire_.push_back(to_send_.front());
      to_send_.pop_front();
    }
  }
  if (on_wire_.size() == request_.items().size()) {
    std::sort(on_wire_.begin(), on_wire_.end());  // the round may have begun in the middle
    return request_;
  }
  piece_ = request_.subset(on_wire_);
  return piece_;
}

// Else a reader would find the document nowhere between two pieces.
BulkDelivery::Together BulkDelivery::next_together() const {
  const std::vector<BulkItem>& items = request_.items();
  const BulkItem& first = items[to_send_.front()];
  Together all;
  for (const std::size_t item : to_send_) {
    if (items[item].key.index != first.key.index || items[item].key.id != first.key.id) break;
    ++all.items;
    all.bytes += request_.lines(item).size();
  }
  if (all.items <= limit_.items() && all.bytes <= limit_.bytes()) return all;
  return {1, request_.lines(to_send_.front()).size()};
}

std::size_t BulkDelivery::answered(BulkReply reply) {
  const std::size_t before = unknown_;
  load_ = load_of(reply);
  // A gateway's 5xx shows nothing of the server behind it.
  const bool has_no_outcome =
      reply.kind == BulkReply::Kind::kRetry || reply.kind == BulkReply::Kind::kOverloaded;
  note_settled(!has_no_outcome || reply.status == 429 || reply.status < 300);
  switch (reply.kind) {
    case BulkReply::Kind::kItems: {
      assert(reply.items.size() == on_wire_.size());
      for (std::size_t i = 0; i < on_wire_.size(); ++i) {
        ItemResult& result = reply.items[i];
        switch (result.outcome) {
          case Outcome::kApplied:
          case Outcome::kSuperseded:
            note_taken(on_wire_[i]);
            set_outcome(on_wire_[i], result.outcome);
            break;
          case Outcome::kRefused:
            refuse(on_wire_[i], result.status, std::move(result.type), std::move(result.reason));
            break;
          case Outcome::kDoubtful:  // it is unknown whether the index is to blame
          case Outcome::kNotTaken:
            failure_ = {on_wire_[i], result.status, std::move(result.type), std::move(result.reason)};
            next_round_.push_back(on_wire_[i]);
            break;
        }
      }
      limit_.came_through();
      busy_in_turn_ = 0;
      break;
    }
    case BulkReply::Kind::kOverloaded:
    case BulkReply::Kind::kRetry:
      failure_ = {on_wire_.front(), reply.status, std::move(reply.type), std::move(reply.reason)};
      note_failed();
      if (reply.status == 429 && on_wire_.size() == 1 && ++busy_in_turn_ < kBusyInTurn) {
        next_round_.push_back(on_wire_.front());  // it may be this one
      } else {
        put_off_round();
      }
      break;
    case BulkReply::Kind::kTooLarge:
    case BulkReply::Kind::kRejected:
      split(std::move(reply));
      break;
  }
  on_wire_.clear();
  return before - unknown_;
}

BulkReply::Kind BulkDelivery::load_of(const BulkReply& reply) const {
  const auto is_overload = [](const ItemResult& item) {
    return item.outcome == Outcome::kNotTaken && tells_overload(item.status);
  };
  if (std::ranges::any_of(reply.items, is_overload)) return BulkReply::Kind::kOverloaded;
  const auto is_to_blame = [this](std::size_t item) {
    return request_.lines(item).size() > piece_bytes_ / 2;
  };
  if (reply.kind == BulkReply::Kind::kTooLarge && std::ranges::any_of(on_wire_, is_to_blame))
    return BulkReply::Kind::kRetry;
  return reply.kind;
}

void BulkDelivery::unanswered(bool sent, std::string reason) {
  // A server that refuses a large body may reset the connection before we can read its 413; one that timed
  // out had too much to do. Both need smaller pieces.
  if (sent) limit_.too_much(on_wire_.size());
  load_ = sent ? BulkReply::Kind::kOverloaded : BulkReply::Kind::kRetry;
  note_settled(!sent);
  note_failed();
  failure_ = {on_wire_.front(), 0, "no_reply", std::move(reason)};
  put_off_round();
  on_wire_.clear();
}

void BulkDelivery::begin_round() {
  assert(!has_piece());
  std::sort(next_round_.begin(), next_round_.end());
  const auto first = std::lower_bound(next_round_.begin(), next_round_.end(), begin_at_);
  to_send_.assign(first, next_round_.end());
  to_send_.insert(to_send_.end(), next_round_.begin(), first);
  next_round_.clear();
  busy_in_turn_ = 0;
}

bool BulkDelivery::settled() const {
  return std::none_of(next_round_.begin(), next_round_.end(),
                      [this](std::size_t item) { return unsettled_[item]; });
}

void BulkDelivery::note_settled(bool settled) {
  for (const std::size_t item : on_wire_) {
    unsettled_[item] = !settled;
    if (!settled) may_land_late_[item] = true;
  }
}

void BulkDelivery::note_failed() {
  if (on_wire_.size() > 1 || failed_alone_[on_wire_.front()]) return;
  failed_alone_[on_wire_.front()] = true;
  ++alone_failed_;
  const bool are_many =
      alone_failed_ >= kManyAlone && alone_failed_ * kManyOf >= alone_failed_ + alone_taken_;
  // Once, unless there is proof: many documents may be to blame, too.
  if (are_many && (lifts_ == 0 || is_by_chance_)) lift();
}

// An item that failed by itself and is taken later was not to blame itself.
void BulkDelivery::note_taken(std::size_t item) {
  asked_apart_ = 0;
  if (on_wire_.size() == 1) ++alone_taken_;
  if (!failed_alone_[item]) return;
  failed_alone_[item] = false;
  is_by_chance_ = true;
  lift();
}

// The server refuses some of the requests, regardless of their items: small ones are only more of them.
void BulkDelivery::lift() {
  if (!limit_.is_fixed()) return;
  limit_.lift();
  ++lifts_;
  asked_apart_ = 0;
}

BulkResult BulkDelivery::take_part() {
  assert(!has_piece() && !finished());
  BulkResult result;
  result.is_last = false;
  if (next_round_.size() == request_.items().size()) return result;
  std::sort(next_round_.begin(), next_round_.end());
  std::vector<std::size_t> done;
  for (std::size_t i = 0; i < request_.items().size(); ++i) {
    if (!std::binary_search(next_round_.begin(), next_round_.end(), i)) done.push_back(i);
  }
  result.request = request_.subset(done);
  for (const std::size_t item : done) {
    result.outcomes.push_back(outcomes_[item]);
    result.may_land_late.push_back(may_land_late_[item]);
  }
  result.refusals = std::exchange(refusals_, {});
  for (RefusedItem& refusal : result.refusals) {
    const auto found = std::lower_bound(done.begin(), done.end(), refusal.item);
    refusal.item = static_cast<std::size_t>(found - done.begin());
  }
  sort_by_item(result.refusals);

  begin_at_ = static_cast<std::size_t>(std::lower_bound(next_round_.begin(), next_round_.end(), begin_at_) -
                                       next_round_.begin());
  request_ = request_.subset(next_round_);
  outcomes_.resize(next_round_.size());  // those of items without one mean nothing
  const auto of_those_left = [this](const std::vector<bool>& items) {
    std::vector<bool> left;
    for (const std::size_t item : next_round_) left.push_back(items[item]);
    return left;
  };
  unsettled_ = of_those_left(unsettled_);
  may_land_late_ = of_those_left(may_land_late_);
  failed_alone_ = of_those_left(failed_alone_);
  std::iota(next_round_.begin(), next_round_.end(), std::size_t{0});
  return result;
}

BulkResult BulkDelivery::take_result() {
  assert(finished());
  sort_by_item(refusals_);
  BulkResult result;
  result.request = std::move(request_);
  result.outcomes = std::move(outcomes_);
  result.may_land_late = std::move(may_land_late_);
  result.refusals = std::move(refusals_);
  return result;
}

void BulkDelivery::set_outcome(std::size_t item, Outcome outcome) {
  outcomes_[item] = outcome;
  --unknown_;
}

void BulkDelivery::refuse(std::size_t item, int status, std::string type, std::string reason) {
  refusals_.push_back({item, status, std::move(type), std::move(reason)});
  set_outcome(item, Outcome::kRefused);
}

void BulkDelivery::single_out() {
  if (!limit_.is_fixed()) {
    if (lifts_ > 0 && ++asked_apart_ < (2 << std::min(lifts_, kMostLifts))) return;
    alone_failed_ = alone_taken_ = 0;
  }
  limit_.fix(next_round_.size() / kMostPieces);
}

void BulkDelivery::give_back(Outcome outcome, const RefusedItem& why) {
  for (const std::size_t item : std::exchange(next_round_, {})) {
    refusals_.push_back({item, why.status, why.type, why.reason});
    set_outcome(item, outcome);
  }
}

void BulkDelivery::put_off_round() {
  begin_at_ = on_wire_.back() + 1;
  next_round_.insert(next_round_.end(), on_wire_.begin(), on_wire_.end());
  next_round_.insert(next_round_.end(), to_send_.begin(), to_send_.end());
  to_send_.clear();
}

void BulkDelivery::split(BulkReply reply) {
  if (on_wire_.size() == 1) {
    refuse(on_wire_.front(), reply.status, std::move(reply.type), std::move(reply.reason));
    return;
  }
  if (reply.kind == BulkReply::Kind::kTooLarge) {
    limit_.too_large(piece_bytes_);
  } else {
    limit_.too_much(on_wire_.size());
  }
  to_send_.insert(to_send_.begin(), on_wire_.begin(), on_wire_.end());
}

}  // namespace lockstep
