#include "replicator/source/awaited_jobs.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

AppliedState pending(std::string reason) {
  return {AppliedState::Kind::kPending, std::move(reason)};
}

}  // namespace

std::string pending_changes(const std::vector<UnfinishedWork>& work) {
  const std::string pending = "changes are pending";
  return work.empty() ? pending : pending + ", beside them: " + work.front().what;
}

AppliedState AwaitedJobs::look(const std::vector<UnfinishedWork>& work, const std::string& altered) {
  std::vector<KnownJob> left;
  std::string what;
  for (const UnfinishedWork& each : work) {
    if (!each.job) {
      jobs_.reset();  // a comparison follows once its view can be read again
      return pending("an index is set aside: " + each.what);
    }
    if (jobs_ && !is_known(*each.job) && !(each.is_repair && has_ended_since(work, each.index))) continue;
    if (left.empty()) what = each.what;
    left.push_back({*each.job, each.index});
  }
  if (!altered.empty()) {
    jobs_.reset();  // likewise, once it is put back or applied
    return pending(altered);
  }
  jobs_ = std::move(left);
  if (jobs_->empty()) return {AppliedState::Kind::kApplied};
  if (jobs_->size() == 1) return pending("a job is not finished: " + what);
  return pending(std::to_string(jobs_->size()) + " jobs are not finished, the first: " + what);
}

bool AwaitedJobs::is_known(JobId job) const {
  return std::any_of(jobs_->begin(), jobs_->end(), [&](const KnownJob& known) { return known.id == job; });
}

// A job of this index that is waited for is not there any more. What it could not write is a repair now: one
// commit ends the job and adds the repair.
bool AwaitedJobs::has_ended_since(const std::vector<UnfinishedWork>& work, IndexId index) const {
  return std::any_of(jobs_->begin(), jobs_->end(), [&](const KnownJob& known) {
    return known.index == index && std::none_of(work.begin(), work.end(), [&](const UnfinishedWork& each) {
             return each.job == known.id;
           });
  });
}

}  // namespace lockstep
