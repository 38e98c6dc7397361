#include "replicator/scheduler.h"

#include <random>

namespace lockstep {

SteadyTime steady_now() {
  Scheduler* const scheduler = Scheduler::current();
  return scheduler == nullptr ? std::chrono::steady_clock::now() : scheduler->now();
}

std::uint32_t random_seed() {
  Scheduler* const scheduler = Scheduler::current();
  return scheduler == nullptr ? std::random_device()() : scheduler->random();
}

}  // namespace lockstep
