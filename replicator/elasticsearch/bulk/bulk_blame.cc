#include "replicator/elasticsearch/bulk/bulk_blame.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

namespace lockstep {
namespace {

// That are asked for a word against one that is busy.
constexpr std::size_t kMostOthersAsked = 3;

// The _id of a question that is about no document.
constexpr std::string_view kNobody = "lockstep";

std::map<std::string_view, std::vector<std::size_t>> left_by_alias(const BulkDelivery& delivery) {
  std::map<std::string_view, std::vector<std::size_t>> left;
  for (const std::size_t item : delivery.left()) left[delivery.request().alias_of(item)].push_back(item);
  return left;
}

}  // namespace

BulkBlame::BulkBlame(std::vector<BulkTarget> targets, std::chrono::milliseconds timeout,
                     std::function<bool()> may_ask)
    : targets_(std::move(targets)), timeout_(timeout), may_ask_(std::move(may_ask)) {}

void BulkBlame::settle_doubts(HttpTransport& transport, const BulkRequest& piece, BulkReply& reply) const {
  std::map<std::string_view, WriteProbe> probes;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    ItemResult& item = reply.items[i];
    if (item.outcome != Outcome::kDoubtful) continue;
    const std::string& alias = piece.alias_of(i);
    if (!probes.contains(alias))
      probes.emplace(alias, probe_write(transport, alias, piece.items()[i].key, timeout_));
    if (probes.at(alias).answer == WriteProbe::Answer::kTaken) item.outcome = Outcome::kRefused;
  }
}

void BulkBlame::note_taken(const BulkRequest& piece, const BulkReply& reply) {
  std::set<IndexId> taken;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const Outcome outcome = reply.items[i].outcome;
    if (outcome == Outcome::kApplied || outcome == Outcome::kSuperseded)
      taken.insert(taken.end(), piece.items()[i].key.index);
  }
  const MutexLock lock(mutex_);
  ++last_taken_;
  for (const IndexId index : taken) taken_[index] = last_taken_;
}

WriteProbe BulkBlame::ask(HttpTransport& transport, std::string_view alias,
                          const DocumentKey& document) const {
  if (!may_ask_()) return {};
  return probe_write(transport, std::string(alias), document, timeout_);
}

// What refuses or cuts off a whole request may do so for the document's name, which the question has, too:
// then the index is asked under another one.
WriteProbe BulkBlame::ask_of_index(HttpTransport& transport, std::string_view alias,
                                   const DocumentKey& document) const {
  WriteProbe probe = ask(transport, alias, document);
  if (probe.answer != WriteProbe::Answer::kUnknown || !probe.is_of_request) return probe;
  WriteProbe other = ask(transport, alias, {document.index, {std::string(kNobody)}, ""});
  return other.answer == WriteProbe::Answer::kTaken ? other : probe;
}

void BulkBlame::single_out(HttpTransport& transport, BulkDelivery& delivery) const {
  if (delivery.is_singled_out()) return;
  for (const auto& [alias, items] : left_by_alias(delivery)) {
    const DocumentKey& document = delivery.request().items()[items.front()].key;
    if (ask_of_index(transport, alias, document).answer != WriteProbe::Answer::kTaken) continue;
    delivery.single_out();
    return;
  }
}

bool BulkBlame::give_back(HttpTransport& transport, BulkDelivery& delivery, bool is_long) const {
  bool is_taken = false;
  bool is_unknown = false;
  for (const auto& [alias, items] : left_by_alias(delivery)) {
    const DocumentKey& document = delivery.request().items()[items.front()].key;
    const WriteProbe probe = ask_of_index(transport, alias, document);
    const bool is_busy_alone = probe.answer == WriteProbe::Answer::kUnknown && probe.status != 0 && is_long &&
                               takes_others(transport, document.index);
    if (probe.answer == WriteProbe::Answer::kHeld || is_busy_alone) {
      delivery.give_back(items, Outcome::kNotTaken, {0, probe.status, probe.type, probe.reason});
    } else if (probe.answer == WriteProbe::Answer::kTaken) {
      is_taken = true;
      if (is_long && delivery.is_singled_out())
        delivery.give_back(items, Outcome::kRefused, delivery.failure());
    } else {
      is_unknown = true;
    }
  }
  if (is_taken && !delivery.is_singled_out()) {
    delivery.single_out();
    return true;
  }
  return !is_unknown;
}

// Those first that took a write last: where several are busy, one that is not is among them. The others in
// turn, so that not all ask the same ones.
std::vector<BulkTarget> BulkBlame::others_of(IndexId index) const {
  const auto own = std::ranges::find(targets_, index, &BulkTarget::index);
  if (own == targets_.end()) return {};
  std::vector<BulkTarget> others(own + 1, targets_.end());
  others.insert(others.end(), targets_.begin(), own);
  const MutexLock lock(mutex_);
  const auto taken_at = [this](const BulkTarget& target) LOCKSTEP_REQUIRES(mutex_) {
    const auto taken = taken_.find(target.index);
    return taken == taken_.end() ? 0 : taken->second;
  };
  std::ranges::stable_sort(others, std::greater(), taken_at);
  return others;
}

// Else all of Elasticsearch is busy, and what is held would only be asked for again and again.
bool BulkBlame::takes_others(HttpTransport& transport, IndexId index) const {
  std::vector<BulkTarget> others = others_of(index);
  if (others.size() > kMostOthersAsked) others.resize(kMostOthersAsked);
  return std::ranges::any_of(others, [&](const BulkTarget& other) {
    return ask(transport, other.alias, {other.index, {std::string(kNobody)}, ""}).answer ==
           WriteProbe::Answer::kTaken;
  });
}

}  // namespace lockstep
