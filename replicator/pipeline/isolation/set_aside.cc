#include "replicator/pipeline/isolation/set_aside.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "replicator/error.h"
#include "replicator/log/log.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kFirstPause{10};
constexpr std::chrono::seconds kLongestPause{300};

std::chrono::seconds pause_after(int failures) {
  return failures == 0 ? std::chrono::seconds(0)
                       : std::min(kLongestPause, kFirstPause * (1 << std::min(failures, 6)));
}

}  // namespace

SetAside::SetAside(const AppliedPipeline& pipeline, ChangeLog& changes, Epoch epoch)
    : pipeline_(pipeline), changes_(changes), epoch_(epoch) {
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

void SetAside::add(IndexId id, const std::string& reason) {
  const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
  transaction->set_aside(id, reason);
  transaction->commit();
  added(id, reason);
}

void SetAside::keep(IndexId id, const std::string& reason) {
  kept_.insert(id);
  const auto known = reasons_.find(id);
  if (known == reasons_.end()) {
    add(id, reason);
  } else if (known->second != reason) {
    restate(*pipeline_.find(id), reason);
  }
}

void SetAside::added(IndexId index, const std::string& reason) {
  const SteadyTime now = std::chrono::steady_clock::now();
  Trial& trial = trials_[index];
  const bool in_vain = trial.taken_back_at != SteadyTime{} && now - trial.taken_back_at < kLongestPause;
  trial.failures = in_vain ? trial.failures + 1 : 0;
  trial.set_aside_at = now;
  reasons_[index] = reason;
  const LogField field("index", pipeline_.find(index)->alias);
  spdlog::warn("index {} is set aside, the others go on: {}", pipeline_.find(index)->alias, reason);
}

// The tail follows the index again before the comparison is added: what the tail left out was committed
// before that, and the comparison sees it.
std::vector<Job> SetAside::take_back_readable(SteadyTime now, const HeldIndices& held) {
  std::vector<Job> comparisons;
  if (empty()) return comparisons;
  const UnfinishedJobs jobs = changes_.jobs();
  for (const AppliedIndex& index : pipeline_.indices) {
    if (!contains(index.id) || kept_.contains(index.id) || held.contains(index.id)) continue;
    Trial& trial = trials_[index.id];
    if (now - trial.set_aside_at < pause_after(trial.failures)) continue;
    if (const std::optional<std::string> why = obstacle(index, jobs)) {
      if (*why != reasons_[index.id]) restate(index, *why);
      continue;
    }
    trial.taken_back_at = now;
    const LogField field("index", index.alias);
    spdlog::info("index {}: it can be read again; it is followed and compared", index.alias);
    const std::string reason = "it was set aside: " + std::exchange(reasons_[index.id], {});
    reasons_.erase(index.id);
    const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
    transaction->take_back(index.id);
    for (const JobKind kind : {JobKind::kComparison, JobKind::kSweep})
      transaction->add_job(index.id, kind, reason);
    std::vector<Job> added = transaction->commit();
    std::move(added.begin(), added.end(), std::back_inserter(comparisons));
  }
  return comparisons;
}

std::optional<std::string> SetAside::obstacle(const AppliedIndex& index, const UnfinishedJobs& jobs) {
  const auto job = std::find_if(jobs.unreadable.begin(), jobs.unreadable.end(),
                                [&](const UnreadableJob& each) { return each.index == index.id; });
  if (job != jobs.unreadable.end()) return job->why;
  try {
    changes_.read()->require_readable(index);
    return std::nullopt;
  } catch (const ViewError& error) {
    return error.what();
  } catch (const ViewTooSlow& error) {
    return error.what();
  }
}

void SetAside::restate(const AppliedIndex& index, const std::string& reason) {
  const LogField field("index", index.alias);
  spdlog::warn("index {} stays set aside: {}", index.alias, reason);
  const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
  transaction->take_back(index.id);
  transaction->set_aside(index.id, reason);
  transaction->commit();
  reasons_[index.id] = reason;
}

}  // namespace lockstep
