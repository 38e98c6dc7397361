#include "replicator/pipeline/step_refreshes.h"

#include <chrono>

#include "replicator/clock.h"

namespace lockstep {

StepRefreshes::StepRefreshes(const AppliedPipeline& pipeline) {
  for (const AppliedIndex& index : pipeline.indices) all_.insert(index.id);
}

// An earlier process may have written some pages of a job, into any index, so a job whose own process wrote
// nothing refreshes all of them.
std::optional<std::set<IndexId>> StepRefreshes::note(Lane lane, const std::vector<BulkRequest>& requests,
                                                     const StepEnd& end) {
  if (refresher_ == nullptr) return std::nullopt;
  std::set<IndexId>& written = written_[lane];
  for (const BulkRequest& request : requests) {
    for (const BulkItem& item : request.items()) written.insert(item.key.index);
  }
  if (lane.job && !(end.progress && end.progress->finished)) return std::nullopt;
  if (lane.due && end.written.empty()) return std::nullopt;
  std::set<IndexId> indices = std::move(written);
  written_.erase(lane);
  if (!indices.empty()) return indices;
  return lane.job ? std::optional(all_) : std::nullopt;
}

void StepRefreshes::advance(Acknowledgements& acknowledgements) {
  if (refresher_ == nullptr) return;
  for (const StepId step : refresher_->take_finished()) {
    acknowledgements.bulk_done(step);
    --refreshing_;
  }
  std::erase_if(to_refresh_, [&](const ToRefresh& each) {
    const bool of_tail = each.step.lane == Lane::tail();
    const bool applied =
        acknowledgements.bulks_left(each.step) == 1 && (of_tail || acknowledgements.is_first(each.step));
    if (!applied) return false;
    if (of_tail) {
      const StepEnd& end = acknowledgements.end_of(each.step);
      applied_.add(steady_now() - end.oldest_change, end.rows);
    }
    refresher_->add(each.step, each.indices);
    ++refreshing_;
    return true;
  });
}

}  // namespace lockstep
