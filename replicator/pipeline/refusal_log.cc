#include "replicator/pipeline/refusal_log.h"

#include <utility>

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

std::string line(const std::string& kind, std::int64_t count) {
  return kind + ": " +
         (count == 1 ? "a document was refused and kept as a dead letter"
                     : grouped(count) + " documents were refused and kept as dead letters") +
         "; see `lockstep dead-letters list`";
}

}  // namespace

RefusalLog::RefusalLog(const AppliedPipeline& pipeline) {
  for (const AppliedIndex& index : pipeline.indices) aliases_[index.id] = index.alias;
}

void RefusalLog::note(const std::vector<DeadLetter>& refused) {
  // Field names can come from documents, too: beyond so many kinds only the type is distinguished.
  constexpr std::size_t kMostKinds = 1'000;
  for (const DeadLetter& letter : refused) {
    const bool in_detail = kinds_.size() < kMostKinds;
    ++kinds_["index " + aliases_.at(letter.index) + ": " +
             (in_detail ? without_values(letter.error_type, letter.reason) : letter.error_type)]
          .count;
  }
}

std::vector<std::string> RefusalLog::due(SteadyTime now) {
  std::vector<std::string> lines;
  for (auto& [name, kind] : kinds_) {
    if (kind.count == 0 || (kind.told_at != SteadyTime::min() && now - kind.told_at < kInterval)) continue;
    lines.push_back(line(name, std::exchange(kind.count, 0)));
    kind.told_at = now;
  }
  return lines;
}

std::vector<std::string> RefusalLog::rest() {
  std::vector<std::string> lines;
  for (auto& [name, kind] : kinds_) {
    if (kind.count > 0) lines.push_back(line(name, std::exchange(kind.count, 0)));
  }
  return lines;
}

}  // namespace lockstep
