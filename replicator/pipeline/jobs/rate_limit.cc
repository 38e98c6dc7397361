#include "replicator/pipeline/jobs/rate_limit.h"

#include <algorithm>
#include <chrono>

namespace lockstep {
namespace {

constexpr std::int64_t kPagesInASecond = 10;

}  // namespace

RateLimit::RateLimit(std::int64_t per_second, SteadyTime now)
    : per_second_(std::max<std::int64_t>(1, per_second)), next_(now + time_of(page())) {}

std::int64_t RateLimit::documents(SteadyTime now) const {
  return now < next_ ? 0 : page();
}

void RateLimit::took(std::int64_t documents, SteadyTime now) {
  next_ = std::max(next_, now) + time_of(documents);
}

std::int64_t RateLimit::page() const {
  return std::max<std::int64_t>(1, per_second_ / kPagesInASecond);
}

SteadyTime::duration RateLimit::time_of(std::int64_t documents) const {
  const std::chrono::duration<double> seconds(static_cast<double>(documents) /
                                              static_cast<double>(per_second_));
  return std::chrono::ceil<SteadyTime::duration>(seconds);
}

}  // namespace lockstep
