#include "replicator/backoff.h"

#include <algorithm>

namespace lockstep {

std::chrono::milliseconds Backoff::next() {
  const std::int64_t cap = limits_.cap.count();
  const int doublings = std::min(tries_++, 30);
  const std::int64_t whole = std::min(cap, limits_.first.count() << doublings);
  std::uniform_int_distribution<std::int64_t> jitter(whole / 2, whole);
  return std::chrono::milliseconds(jitter(random_));
}

}  // namespace lockstep
