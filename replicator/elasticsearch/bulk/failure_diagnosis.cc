#include "replicator/elasticsearch/bulk/failure_diagnosis.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace lockstep {
namespace {

// That are asked for a word against one that is busy.
constexpr std::size_t kMostOthersAsked = 3;

// The _id of a question that is about no document.
constexpr std::string_view kProbeId = "lockstep";

const DocumentKey& first_left(const BulkDelivery& delivery) {
  return delivery.request().items()[delivery.left().front()].key;
}

}  // namespace

FailureDiagnosis::FailureDiagnosis(std::vector<BulkTarget> targets, std::chrono::milliseconds timeout,
                                   std::function<bool()> may_ask)
    : targets_(std::move(targets)), timeout_(timeout), may_ask_(std::move(may_ask)) {}

void FailureDiagnosis::settle_doubts(HttpTransport& transport, const BulkRequest& piece,
                                     BulkReply& reply) const {
  const auto doubtful = std::ranges::find(reply.items, Outcome::kDoubtful, &ItemResult::outcome);
  if (doubtful == reply.items.end()) return;
  const DocumentKey& document = piece.items()[static_cast<std::size_t>(doubtful - reply.items.begin())].key;
  if (probe_write(transport, piece.alias(), document, timeout_).answer != WriteProbe::Answer::kTaken) return;
  for (ItemResult& item : reply.items) {
    if (item.outcome == Outcome::kDoubtful) item.outcome = Outcome::kRefused;
  }
}

void FailureDiagnosis::note_taken(const BulkRequest& piece, const BulkReply& reply) {
  const bool is_taken = std::ranges::any_of(reply.items, [](const ItemResult& item) {
    return item.outcome == Outcome::kApplied || item.outcome == Outcome::kSuperseded;
  });
  if (!is_taken) return;
  const MutexLock lock(mutex_);
  taken_[piece.index()] = ++last_taken_;
}

WriteProbe FailureDiagnosis::ask(HttpTransport& transport, std::string_view alias,
                                 const DocumentKey& document) const {
  if (!may_ask_()) return {};
  return probe_write(transport, std::string(alias), document, timeout_);
}

// A server that refuses or cuts off a whole request may do so for the document's name, which the question
// has, too: then the index is asked under another one.
WriteProbe FailureDiagnosis::ask_of_index(HttpTransport& transport, std::string_view alias,
                                          const DocumentKey& document) const {
  WriteProbe probe = ask(transport, alias, document);
  if (probe.answer != WriteProbe::Answer::kUnknown || !probe.is_of_request) return probe;
  WriteProbe other = ask(transport, alias, {document.index, {std::string(kProbeId)}, ""});
  return other.answer == WriteProbe::Answer::kTaken ? other : probe;
}

void FailureDiagnosis::single_out(HttpTransport& transport, BulkDelivery& delivery) const {
  if (delivery.is_singled_out()) return;
  const WriteProbe probe = ask_of_index(transport, delivery.request().alias(), first_left(delivery));
  if (probe.answer == WriteProbe::Answer::kTaken) delivery.single_out();
}

bool FailureDiagnosis::give_back(HttpTransport& transport, BulkDelivery& delivery, bool is_long) const {
  const DocumentKey& document = first_left(delivery);
  const WriteProbe probe = ask_of_index(transport, delivery.request().alias(), document);
  const bool is_busy_alone = probe.answer == WriteProbe::Answer::kUnknown && probe.status != 0 && is_long &&
                             takes_others(transport, document.index);
  if (probe.answer == WriteProbe::Answer::kHeld || is_busy_alone) {
    delivery.give_back(Outcome::kNotTaken, {0, probe.status, probe.type, probe.reason});
    return true;
  }
  if (probe.answer == WriteProbe::Answer::kUnknown) return false;
  if (!delivery.is_singled_out()) {
    delivery.single_out();
  } else if (is_long) {
    delivery.give_back(Outcome::kRefused, delivery.failure());
  }
  return true;
}

// Those first that took a write last: if several are busy, one that is not is among them. The others in turn,
// so that not all ask the same ones.
std::vector<BulkTarget> FailureDiagnosis::others_of(IndexId index) const {
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

// Else all of Elasticsearch is busy, and the rest would only be asked for again and again.
bool FailureDiagnosis::takes_others(HttpTransport& transport, IndexId index) const {
  std::vector<BulkTarget> others = others_of(index);
  if (others.size() > kMostOthersAsked) others.resize(kMostOthersAsked);
  return std::ranges::any_of(others, [&](const BulkTarget& other) {
    return ask(transport, other.alias, {other.index, {std::string(kProbeId)}, ""}).answer ==
           WriteProbe::Answer::kTaken;
  });
}

}  // namespace lockstep
