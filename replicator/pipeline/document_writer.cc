#include "replicator/pipeline/document_writer.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace lockstep {
namespace {

constexpr std::size_t kSmallBytes = 64 * 1024;

// A write of a document waits so long for the ones before it. Then the document becomes due. Less while it is
// in the way of others.
constexpr std::chrono::milliseconds kPatience{3'000};
constexpr std::chrono::milliseconds kPatienceInTheWay{1'000};

// The bytes that wait behind other writes, at most: they are kept in memory, and each request is one more on
// the wire.
constexpr std::size_t kMostBytesBehind = 1024 * 1024;
constexpr std::size_t kMostRequestsBehind = 32;

}  // namespace

DocumentWriter::DocumentWriter(BulkWriter& bulks, ProgressBoard& board, const AppliedPipeline& pipeline,
                               const Clock& clock, SteadyTime earlier_land)
    : bulks_(bulks),
      board_(board),
      clock_(clock),
      news_(pipeline),
      refreshes_(pipeline),
      late_(earlier_land) {}

const Clock& DocumentWriter::system_clock() {
  static const SystemClock clock;
  return clock;
}

std::size_t DocumentWriter::hash_of(const BulkItem& item) {
  // Without the routing: an id under two routings is one document here (W1).
  return std::hash<std::string>()(item.key.id.text) ^
         (static_cast<std::size_t>(item.key.index.value) * 0x9e3779b97f4a7c15ULL);
}

bool DocumentWriter::collides(const BulkRequest& request, Claim claim) const {
  return std::any_of(request.items().begin(), request.items().end(),
                     [&](const BulkItem& item) { return collides(item, claim); });
}

bool DocumentWriter::Queue::is_full() const {
  return behind.size() >= kMostRequestsBehind || bytes_behind >= kMostBytesBehind;
}

bool DocumentWriter::tail_has_request_younger_than(std::chrono::milliseconds age) const {
  const SteadyTime oldest = clock_.now() - age;
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& request) {
    return request.second.origin.step.lane == Lane::tail() && request.second.sent > oldest;
  });
}

void DocumentWriter::submit(Lane lane, StepDocuments documents, StepEnd end) {
  for (DeadLetter& letter : documents.refused_) news_.add_refused(std::move(letter));
  for (AcknowledgedWrite& write : documents.never_written_) news_.add_never_written(std::move(write));
  const std::optional<DueNumber> since = end.since;
  std::erase_if(documents.requests_, [](const BulkRequest& request) { return request.empty(); });
  std::optional<std::set<IndexId>> refresh = refreshes_.note(lane, documents.requests_, end);
  const StepId step =
      acknowledgements_.add(lane, documents.requests_.size() + (refresh ? 1 : 0), std::move(end));
  if (refresh) refreshes_.add(step, *std::move(refresh));
  const bool is_jobs = lane != Lane::tail();
  if (is_jobs) job_requests_ += documents.requests_.size();
  for (BulkRequest& request : documents.requests_) {
    for (const BulkItem& item : request.items()) ++pending_[item.key.index];
    open_.insert(taken_over_);
    const Origin origin{step, since, taken_over_++, request.bytes() <= kSmallBytes};
    (is_jobs ? jobs_waiting_ : tail_waiting_).whole.push_back({std::move(request), origin});
  }
  send_waiting();
}

// First those that wait behind another write, of both: others may wait behind them.
void DocumentWriter::send_waiting() {
  for (Queue* queue : {&tail_waiting_, &jobs_waiting_}) {
    give_up_what_waits_long(*queue);
    send_behind(*queue);
  }
  for (Queue* queue : {&tail_waiting_, &jobs_waiting_}) {
    while (!queue->whole.empty() && bulks_.has_room()) {
      if (queue == &tail_waiting_) defer_slow(queue->whole.front());
      if (!send_first(*queue)) break;
    }
  }
}

bool DocumentWriter::holds_back(IndexId index, BulkPriority priority) const {
  const bool is_jobs = priority == BulkPriority::kBackground;
  if ((is_jobs && job_requests_ == 0) || !bulks_.is_slow(index)) return false;
  if (!bulks_.has_place_for_slow()) return true;
  const auto waits = [&](const auto& waiting) {
    return !waiting.request.empty() && waiting.request.index() == index;
  };
  const auto is_on_its_way = [&](const auto& request) {
    return (request.second.origin.step.lane != Lane::tail()) == is_jobs && request.second.index == index;
  };
  return std::ranges::any_of(requests_, is_on_its_way) ||
         (is_jobs && (std::ranges::any_of(jobs_waiting_.whole, waits) ||
                      std::ranges::any_of(jobs_waiting_.behind, waits)));
}

// Its documents become due when it is of a slow index that has enough in flight (W7).
void DocumentWriter::defer_slow(Whole& whole) {
  if (whole.request.empty() || !holds_back(whole.request.index(), BulkPriority::kNormal)) return;
  for (const BulkItem& item : whole.request.items()) {
    --pending_[item.key.index];
    news_.add_unwritten(item.key, std::string(kSlowIndex), whole.origin.since);
  }
  whole.request = {};
}

bool DocumentWriter::has_room_for_jobs(std::size_t on_wire, std::size_t in_hand) {
  bulks_.limit_background(on_wire);
  return has_room_behind_page() && jobs_waiting_.has_room() && job_requests_in_flight() < in_hand;
}

void DocumentWriter::send_behind(Queue& queue) {
  for (auto each = queue.behind.begin(); each != queue.behind.end() && bulks_.has_room();) {
    if (collides(each->request, each->claim)) {
      ++each;
      continue;
    }
    queue.bytes_behind -= each->request.bytes();
    send(std::move(each->request), each->origin, each->claim);
    each = queue.behind.erase(each);
  }
}

// A write behind the one in flight is enough for each document: if all of a request's documents have one, it
// waits whole, and so the changes until then are read together. False: it waits.
bool DocumentWriter::send_first(Queue& queue) {
  Whole& first = queue.whole.front();
  if (&queue == &jobs_waiting_) first.request = without_overtaken(std::move(first.request), first.origin);
  const std::vector<BulkItem>& items = first.request.items();
  std::vector<std::size_t> behind;
  bool all_have_one_behind = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t before = claims_.count_before(hash_of(items[i]));
    if (before > 0) behind.push_back(i);
    if (before < 2) all_have_one_behind = false;
  }
  if (!behind.empty() && (queue.is_full() || all_have_one_behind)) {
    if (!first.since) first.since = clock_.now();
    return false;
  }
  Whole whole = std::move(first);
  queue.whole.pop_front();
  if (behind.empty()) {
    claim_and_send(std::move(whole.request), whole.origin);
    return true;
  }
  BulkRequest later = whole.request.split_off(behind);
  if (!whole.request.empty()) {
    acknowledgements_.bulk_added(whole.origin.step);
    open_.insert(whole.origin.number);
    if (whole.origin.step.lane != Lane::tail()) ++job_requests_;
    claim_and_send(std::move(whole.request), whole.origin);
  }
  Behind part{std::move(later), whole.origin, 0, clock_.now()};
  part.claim = claim_documents(part.request);
  queue.bytes_behind += part.request.bytes();
  queue.behind.push_back(std::move(part));
  return true;
}

// The deleting change has the newer state, whatever becomes of the deletion (W6). That may have no outcome
// yet, and a client that waits for due documents waits for no later change: so they stay due.
BulkRequest DocumentWriter::without_overtaken(BulkRequest request, const Origin& origin) {
  const std::vector<BulkItem>& items = request.items();
  std::vector<std::size_t> overtaken;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const RecentWrites::Owner deleted = recent_.owner_of_newer_deletion(hash_of(items[i]), items[i].version);
    if (deleted == RecentWrites::Owner::kOthers) continue;
    --pending_[items[i].key.index];
    if (deleted == RecentWrites::Owner::kUnknown || origin.step.lane.due)
      news_.add_unwritten(items[i].key, "it was deleted while its page was read", origin.since);
    overtaken.push_back(i);
  }
  if (!overtaken.empty()) request.split_off(overtaken);
  return request;
}

Claim DocumentWriter::claim_documents(const BulkRequest& request) {
  for (const BulkItem& item : request.items()) claims_.add(hash_of(item), next_claim_);
  return next_claim_++;
}

void DocumentWriter::claim_and_send(BulkRequest request, const Origin& origin) {
  const Claim claim = claim_documents(request);
  send(std::move(request), origin, claim);
}

// REQUIRES: it has claimed its documents.
void DocumentWriter::send(BulkRequest request, const Origin& origin, Claim claim) {
  if (request.empty()) {  // all of it is due again
    done_with(origin);
    return;
  }
  for (const BulkItem& item : request.items())
    recent_.add(hash_of(item), item.version, item.action == BulkAction::kDelete);
  const bool is_jobs = origin.step.lane != Lane::tail();
  const auto priority = is_jobs ? BulkWriter::Priority::kBackground : BulkWriter::Priority::kNormal;
  const InFlight in_flight{origin, claim, clock_.now(), request.index()};
  requests_.emplace(bulks_.submit(std::move(request), priority), in_flight);
}

void DocumentWriter::done_with(const Origin& origin) {
  open_.erase(open_.find(origin.number));
  acknowledgements_.bulk_done(origin.step);
  if (origin.step.lane != Lane::tail()) --job_requests_;
}

void DocumentWriter::give_up_what_waits_long(Queue& queue) {
  const bool in_the_way = !queue.has_room();
  const SteadyTime long_ago = clock_.now() - (in_the_way ? kPatienceInTheWay : kPatience);
  for (Behind& each : queue.behind) {
    if (!waits_long(each.request, each.claim, each.since, long_ago)) continue;
    queue.bytes_behind -= each.request.bytes();
    each.request = give_up_colliding(each.request, each.claim, each.origin);
    queue.bytes_behind += each.request.bytes();
  }
  if (queue.whole.empty() || !queue.whole.front().since) return;
  Whole& first = queue.whole.front();
  if (waits_long(first.request, kNoClaim, *first.since, long_ago))
    first.request = give_up_colliding(first.request, kNoClaim, first.origin);
}

// For a write that fails again and again, or one that is on its way for long: both may take minutes.
bool DocumentWriter::waits_long(const BulkRequest& request, Claim claim, SteadyTime since,
                                SteadyTime long_ago) const {
  if (since <= long_ago) return true;
  for (const auto& [ticket, in_flight] : requests_) {
    if (in_flight.claim >= claim || (in_flight.sent > long_ago && !in_flight.is_repeated)) continue;
    const Claim slow = in_flight.claim;
    if (std::any_of(request.items().begin(), request.items().end(),
                    [&](const BulkItem& item) { return claims_.has(hash_of(item), slow); }))
      return true;
  }
  return false;
}

// Returns the rest of the request.
BulkRequest DocumentWriter::give_up_colliding(const BulkRequest& request, Claim claim, const Origin& origin) {
  std::vector<std::size_t> free;
  const std::vector<BulkItem>& items = request.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!collides(items[i], claim)) {
      free.push_back(i);
      continue;
    }
    --pending_[items[i].key.index];
    claims_.remove(hash_of(items[i]), claim);
    news_.add_unwritten(items[i].key, "another write of the document takes long", origin.since);
  }
  return request.subset(free);
}

DocumentWriter::Delays DocumentWriter::take_delays() {
  DelayHistogram complete = acknowledgements_.take_delays();
  if (!refreshes_.is_on()) return {complete, {}};
  return {refreshes_.take_delays(), complete};
}

std::int64_t DocumentWriter::pending(IndexId index) const {
  const auto found = pending_.find(index);
  return found == pending_.end() ? 0 : found->second;
}

void DocumentWriter::take_outcomes(std::chrono::milliseconds wait) {
  for (BulkResult& result : bulks_.take(wait)) take_result(std::move(result));
  send_waiting();
  refreshes_.advance(acknowledgements_);
  const BulkWriterState state = bulks_.state();
  board_.update([&](ReplicationProgress& progress) {
    progress.bulk_retries = static_cast<std::int64_t>(state.retries);
    progress.bulks_in_flight = state.in_flight;
    progress.most_bulks_in_flight = state.most_in_flight;
    progress.most_bulk_bytes = static_cast<std::int64_t>(state.most_bytes);
    progress.turned_at = steady_now();
  });
}

void DocumentWriter::take_result(BulkResult result) {
  InFlight& in_flight = requests_.at(result.ticket);
  const Claim claim = in_flight.claim;
  std::map<IndexId, Counts> counts;
  const std::vector<BulkItem>& items = result.request.items();
  for (const BulkItem& item : items) {
    --pending_[item.key.index];
    claims_.remove(hash_of(item), claim);
  }
  const SteadyTime now = steady_now();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (result.may_land_late[i] && items[i].action == BulkAction::kIndex) late_.add(hash_of(items[i]), now);
  }
  for (RefusedItem& refusal : result.refusals) {
    const std::size_t item = refusal.item;
    take_refusal(items[item], result.outcomes[item], std::move(refusal), in_flight.origin);
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    take_outcome(items[i], result.outcomes[i], counts[items[i].key.index], in_flight.origin);
  note_repeated(in_flight, result);
  if (result.is_last) take_last(result);
  board_.update([&](ReplicationProgress& progress) {
    for (const auto& [index, count] : counts) {
      IndexProgress& of_index = progress.indices[index];
      of_index.documents += count.documents;
      of_index.deletes += count.deletes;
      of_index.superseded += count.superseded;
      of_index.refused += count.refused;
    }
    if (result.is_last) ++progress.bulk_requests;
    progress.bulk_bytes += static_cast<std::int64_t>(result.request.bytes());
    if (!items.empty()) progress.advanced_at = steady_now();
  });
}

// A job whose documents are refused for two seconds takes no place from the other jobs.
void DocumentWriter::note_repeated(InFlight& in_flight, const BulkResult& result) {
  in_flight.is_repeated = !result.is_last;
  const bool was_refused = std::exchange(in_flight.is_refused, result.rest_is_refused);
  if (in_flight.origin.step.lane == Lane::tail() || was_refused == in_flight.is_refused) return;
  in_flight.is_refused ? ++refused_job_requests_ : --refused_job_requests_;
}

void DocumentWriter::take_last(const BulkResult& result) {
  const InFlight done = requests_.extract(result.ticket).mapped();
  done_with(done.origin);
  if (done.origin.step.lane == Lane::tail() && done.origin.is_small)
    others_.hear_small_change(result.took, job_requests_in_flight());
}

void DocumentWriter::take_refusal(const BulkItem& item, Outcome outcome, RefusedItem refusal,
                                  const Origin& origin) {
  if (outcome == Outcome::kRefused) {
    news_.add_refused({item.key.index, item.key.id, item.key.routing, item.version, refusal.status,
                       std::move(refusal.type), std::move(refusal.reason)});
    return;
  }
  others_.hear_held(item.key, refusal.reason);
  news_.add_unwritten(item.key, refusal.reason, origin.since);
}

void DocumentWriter::take_outcome(const BulkItem& item, Outcome outcome, Counts& counts,
                                  const Origin& origin) {
  switch (outcome) {
    case Outcome::kNotTaken:
      return;
    case Outcome::kDoubtful:
      throw std::logic_error("a bulk result leaves in doubt whether a document was refused");
    case Outcome::kRefused:
      ++counts.refused;
      return;
    case Outcome::kSuperseded:
      if (!is_superseded_by_us(item, origin)) return;
      ++counts.superseded;
      break;
    case Outcome::kApplied:
      ++(item.action == BulkAction::kIndex ? counts.documents : counts.deletes);
      break;
  }
  if (item.action == BulkAction::kIndex && others_.is_due(item.key.index))
    written_.add(item.key.index, item.key.id, item.version);
  const bool is_repeated = item.action == BulkAction::kDelete && repeat_if_late(item);
  news_.add_written(item, outcome == Outcome::kSuperseded, is_repeated);
}

// False: no older write of the document can land any more.
bool DocumentWriter::repeat_if_late(const BulkItem& deleted) {
  const SteadyTime until = late_.may_land_until(hash_of(deleted));
  if (steady_now() >= until) return false;
  news_.add_to_repeat(deleted.key, until);
  return true;
}

// False: the document is due again. The greater version may be of any state but the wanted one.
bool DocumentWriter::is_superseded_by_us(const BulkItem& item, const Origin& origin) {
  const RecentWrites::Owner owner = recent_.owner_of_newer(hash_of(item), item.version);
  if (owner == RecentWrites::Owner::kUs) return true;
  news_.add_unwritten(item.key, "its write met a greater version, of an earlier leader or of a stranger",
                      origin.since);
  others_.hear_foreign(item.key, owner);
  return false;
}

Acknowledged DocumentWriter::take_acknowledged() {
  Acknowledged acknowledged = acknowledgements_.take();
  news_.take(acknowledged);
  return acknowledged;
}

}  // namespace lockstep
