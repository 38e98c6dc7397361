#include "replicator/pipeline/set_aside.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "replicator/error.h"

namespace lockstep {

SetAside::SetAside(const AppliedPipeline& pipeline, Source& source, Epoch epoch)
    : pipeline_(pipeline), source_(source), epoch_(epoch) {
  for (const AppliedIndex& index : pipeline.indices) {
    if (!index.set_aside.empty()) reasons_.emplace(index.id, index.set_aside);
  }
}

std::string SetAside::text() const {
  std::string text;
  for (const AppliedIndex& index : pipeline_.indices) {
    const auto reason = reasons_.find(index.id);
    if (reason == reasons_.end()) continue;
    text += (text.empty() ? "" : "; ") + index.alias + ": " + reason->second;
  }
  return text;
}

void SetAside::add(const ViewError& error) {
  const std::unique_ptr<SourceTransaction> transaction = source_.begin();
  transaction->set_aside(error.index(), error.what());
  transaction->save(epoch_, {});
  transaction->commit();
  const auto index = std::find_if(pipeline_.indices.begin(), pipeline_.indices.end(),
                                  [&](const AppliedIndex& each) { return each.id == error.index(); });
  throw Error({"index " + index->alias + " is set aside, the others go on", error.what(), "", Retry::kLater});
}

// First the tail follows it again, then the comparison is added: what the tail has left out was committed
// before that, and the comparison sees it.
std::vector<Job> SetAside::look_again() {
  std::vector<Job> comparisons;
  for (const AppliedIndex& index : pipeline_.indices) {
    if (!contains(index.id) || !is_readable(index)) continue;
    spdlog::info("index {}: its view can be read again; it is followed and compared", index.alias);
    const std::string reason = "it was set aside: " + std::exchange(reasons_[index.id], {});
    reasons_.erase(index.id);
    const std::unique_ptr<SourceTransaction> transaction = source_.begin();
    transaction->take_back(index.id);
    for (const JobKind kind : {JobKind::kComparison, JobKind::kSweep}) {
      if (std::optional<Job> job = transaction->add_job(index.id, kind, reason))
        comparisons.push_back(*std::move(job));
    }
    transaction->save(epoch_, {});
    transaction->commit();
  }
  return comparisons;
}

// No document is asked for, but the view and the tracks' queries must be what they were.
bool SetAside::is_readable(const AppliedIndex& index) {
  try {
    const std::unique_ptr<SourceTransaction> transaction = source_.begin_reading();
    transaction->render(index, {}, 1, std::nullopt, [](const RenderedDocument&) {});
    std::vector<CapturedChange> nothing;
    for (const AppliedTrack& track : index.tracks) nothing.push_back({track.capture, {}, false});
    transaction->resolve(index, nothing, 1);
    return true;
  } catch (const ViewError&) {
    return false;
  }
}

}  // namespace lockstep
