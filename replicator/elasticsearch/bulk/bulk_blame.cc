#include "replicator/elasticsearch/bulk/bulk_blame.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "replicator/elasticsearch/bulk/write_probe.h"

namespace lockstep {
namespace {

// That are asked for a word against one that is busy.
constexpr std::size_t kMostOthersAsked = 3;

}  // namespace

BulkBlame::BulkBlame(std::vector<BulkTarget> targets, std::chrono::milliseconds timeout,
                     std::function<bool()> may_ask)
    : targets_(std::move(targets)), timeout_(timeout), may_ask_(std::move(may_ask)) {}

void BulkBlame::settle_doubts(HttpTransport& transport, const BulkRequest& piece, BulkReply& reply) const {
  std::map<std::string_view, WriteProbe> probes;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    ItemResult& item = reply.items[i];
    if (item.verdict != ItemResult::Verdict::kDoubtful) continue;
    const std::string& alias = piece.alias_of(i);
    if (!probes.contains(alias))
      probes.emplace(alias, probe_write(transport, alias, piece.items()[i].key, timeout_));
    if (probes.at(alias).answer == WriteProbe::Answer::kTaken) item.verdict = ItemResult::Verdict::kRefused;
  }
}

Blame BulkBlame::give_back(HttpTransport& transport, BulkDelivery& delivery, bool is_long) const {
  std::map<std::string_view, std::vector<std::size_t>> left;
  bool is_taken = false;
  bool is_unknown = false;
  for (const std::size_t item : delivery.left()) left[delivery.request().alias_of(item)].push_back(item);
  for (const auto& [alias, items] : left) {
    if (!may_ask_()) return Blame::kUnknown;
    const DocumentKey& document = delivery.request().items()[items.front()].key;
    const WriteProbe probe = probe_write(transport, std::string(alias), document, timeout_);
    const bool is_busy_alone = probe.answer == WriteProbe::Answer::kUnknown && probe.status != 0 && is_long &&
                               takes_others(transport, document.index);
    if (probe.answer == WriteProbe::Answer::kHeld || is_busy_alone) {
      delivery.give_back(items, Outcome::kHeld, {0, probe.status, probe.type, probe.reason});
    } else if (probe.answer == WriteProbe::Answer::kTaken) {
      is_taken = true;
      if (is_long && delivery.is_singled_out())
        delivery.give_back(items, Outcome::kPutOff, delivery.failure());
    } else {
      is_unknown = true;
    }
  }
  if (is_taken && !delivery.is_singled_out()) {
    delivery.single_out();
    return Blame::kTogether;
  }
  return is_unknown ? Blame::kUnknown : Blame::kDocuments;
}

// Else all of Elasticsearch is busy, and what is held would only be asked for again and again.
bool BulkBlame::takes_others(HttpTransport& transport, IndexId index) const {
  const auto own = std::ranges::find(targets_, index, &BulkTarget::index);
  if (own == targets_.end()) return false;
  std::vector<BulkTarget> others(own + 1, targets_.end());
  others.insert(others.end(), targets_.begin(), own);
  if (others.size() > kMostOthersAsked) others.resize(kMostOthersAsked);
  return std::ranges::any_of(others, [&](const BulkTarget& other) {
    return may_ask_() &&
           probe_write(transport, other.alias, {other.index, {"lockstep"}, ""}, timeout_).answer ==
               WriteProbe::Answer::kTaken;
  });
}

}  // namespace lockstep
