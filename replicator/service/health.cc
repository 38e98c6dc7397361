#include "replicator/service/health.h"

#include <algorithm>

#include "replicator/service/readable.h"

namespace lockstep {
namespace {

std::string since(SteadyTime then, SteadyTime now) {
  return readable(std::chrono::duration_cast<std::chrono::microseconds>(now - then));
}

}  // namespace

bool applies_changes(PipelineState state) {
  return state == PipelineState::kFollowing || state == PipelineState::kBackfilling;
}

bool is_up(const ReplicationProgress& progress) {
  return progress.epoch.value > 0 || progress.state == PipelineState::kStandingBy;
}

namespace {

// Under any verdict: a long reading keeps a client waiting.
Health with_slow_reading(Health health, const ReplicationProgress& progress) {
  if (!progress.slow_reading.empty()) health.reason += ": " + progress.slow_reading;
  return health;
}

bool follows_nothing(const ReplicationProgress& progress) {
  return !progress.indices.empty() &&
         std::ranges::all_of(progress.indices, [](const auto& index) { return index.second.set_aside; });
}

Health judge_turns(const ReplicationProgress& progress, SteadyTime now) {
  const std::string state(to_string(progress.state));
  if (now - progress.turned_at > kHungAfter) {
    return {Verdict::kBad, Verdict::kBad,
            state + ", but nothing has moved for " + since(progress.turned_at, now)};
  }
  if (progress.state == PipelineState::kStandingBy && !progress.unled.empty())
    return {Verdict::kGood, Verdict::kBad, state + ", but no process runs the pipeline: " + progress.unled};
  if (progress.state == PipelineState::kStandingBy) return {Verdict::kGood, Verdict::kGood, state};
  if (!applies_changes(progress.state)) {
    return {Verdict::kGood, Verdict::kBad, progress.reason.empty() ? state : state + ": " + progress.reason};
  }
  if (now - progress.advanced_at > kStuckAfter) {
    return {Verdict::kGood, Verdict::kBad,
            state + ", but nothing was acknowledged for " + since(progress.advanced_at, now)};
  }
  if (follows_nothing(progress))
    return {Verdict::kGood, Verdict::kBad,
            state + ", but no index is followed, `lockstep status` shows why: " +
                progress.indices.begin()->second.alias +
                (progress.indices.size() > 1 ? " and all others" : "")};
  return {Verdict::kGood, Verdict::kGood, state};
}

}  // namespace

Health judge(const ReplicationProgress& progress, SteadyTime now) {
  return with_slow_reading(judge_turns(progress, now), progress);
}

}  // namespace lockstep
