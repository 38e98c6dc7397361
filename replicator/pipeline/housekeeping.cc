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

void Housekeeping::run(SteadyTime now) {
  for (Scheduled& scheduled : chores_) {
    if (!scheduled.every.due(now)) continue;
    spdlog::trace("housekeeping, since {}", scheduled.chore.why);
    scheduled.chore.what();
  }
}

}  // namespace lockstep
