#include "replicator/source/awaited_work.h"

#include <algorithm>
#include <utility>

#include "replicator/quantity.h"

namespace lockstep {
namespace {

AppliedState pending(std::string reason) {
  return {AppliedState::Kind::kPending, std::move(reason)};
}

}  // namespace

std::string pending_changes(const std::vector<UnfinishedWork>& work) {
  const std::string pending = "changes are pending";
  return work.empty() ? pending : pending + ", alongside: " + work.front().what;
}

AwaitedWork::Known AwaitedWork::all_of(const std::vector<UnfinishedWork>& work) {
  Known known;
  for (const UnfinishedWork& each : work) {
    if (each.job) known.jobs.insert(*each.job);
    if (each.due) known.up_to = std::max(known.up_to, each.due->newest);
  }
  return known;
}

// Documents that a page or a job could not write are due since the page was, or since before all.
bool AwaitedWork::concerns(const UnfinishedWork& work) const {
  return work.job ? known_->jobs.contains(*work.job) : work.due->oldest <= known_->up_to;
}

AppliedState AwaitedWork::look(const std::vector<UnfinishedWork>& work, const std::string& altered) {
  const auto set_aside =
      std::ranges::find_if(work, [](const UnfinishedWork& each) { return !each.job && !each.due; });
  if (set_aside != work.end()) {
    known_.reset();  // a comparison follows once its view can be read again
    return pending("an index is paused: " + set_aside->what);
  }
  if (!altered.empty()) {
    known_.reset();  // likewise, once it is put back or applied
    return pending(altered);
  }
  if (!known_) known_ = all_of(work);
  std::vector<const UnfinishedWork*> left;
  std::set<JobId> jobs;
  for (const UnfinishedWork& each : work) {
    if (!concerns(each)) continue;
    left.push_back(&each);
    if (each.job) jobs.insert(*each.job);
  }
  known_->jobs = std::move(jobs);
  if (left.empty()) return {AppliedState::Kind::kApplied};
  const std::string unwritten = "not all is written yet: " + left.front()->what;
  if (left.size() == 1) return pending(unwritten);
  return pending(unwritten + ", and " +
                 counted(std::ssize(left) - 1, "other job or due list", "other jobs and due lists"));
}

}  // namespace lockstep
