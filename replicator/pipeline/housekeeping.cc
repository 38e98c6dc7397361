#include "replicator/pipeline/housekeeping.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace lockstep {

Housekeeping::Housekeeping(std::vector<Chore> chores, SteadyTime begin) {
  for (Chore& chore : chores) {
    const Every every(chore.every, chore.first == Chore::First::kAtOnce ? SteadyTime{} : begin);
    chores_.push_back({std::move(chore), every});
  }
}

void Housekeeping::run(SteadyTime now, SourceSince source) {
  for (Scheduled& scheduled : chores_) {
    if (source == SourceSince::kUnknown) scheduled.has_news = true;
    const bool may_wait = scheduled.chore.cause == Chore::Cause::kCommit && !scheduled.has_news;
    if (may_wait && now - scheduled.done_at < kWhileStill) continue;
    if (!scheduled.every.due(now)) continue;
    spdlog::trace("housekeeping, since {}", scheduled.chore.why);
    scheduled.chore.what();
    scheduled.done_at = now;
    scheduled.has_news = false;
  }
}

}  // namespace lockstep
