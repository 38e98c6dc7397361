#include "replicator/pipeline/isolation/slow_indices.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "replicator/log/log.h"

namespace lockstep {

std::string SlowIndices::reason(IndexId index) const {
  const auto slow = slow_.find(index);
  return slow == slow_.end() ? "" : slow->second.reason;
}

void SlowIndices::add(const ViewTooSlow& why, SteadyTime now) {
  Trial& trial = trials_[why.index()];
  const bool in_vain = trial.released_at != SteadyTime{} && now - trial.released_at < kLongestPause;
  trial.failures = in_vain ? trial.failures + 1 : 0;
  const auto pause = std::min(kLongestPause, kFirstPause * (1 << std::min(trial.failures, 6)));
  slow_[why.index()] = {why.what(), now + pause};
  const std::string& alias = pipeline_.find(why.index())->alias;
  const LogField field("index", alias);
  spdlog::warn("index {}: its changes become jobs for a while, the others go on: {}", alias, why.what());
}

void SlowIndices::note_job(const Job& job) {
  const auto slow = slow_.find(job.index);
  if (slow != slow_.end() && !slow->second.job) slow->second.job = job.id;
}

void SlowIndices::release(SteadyTime now, const std::function<bool(JobId)>& is_unfinished) {
  std::erase_if(slow_, [&](const auto& entry) {
    const auto& [index, slow] = entry;
    if (now < slow.until || (slow.job && is_unfinished(*slow.job))) return false;
    trials_[index].released_at = now;
    const std::string& alias = pipeline_.find(index)->alias;
    const LogField field("index", alias);
    spdlog::info("index {}: its changes are followed at once again", alias);
    return true;
  });
}

}  // namespace lockstep
