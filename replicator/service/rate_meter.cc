#include "replicator/service/rate_meter.h"

namespace lockstep {

void RateMeter::add(SteadyTime at, std::int64_t count) {
  if (!samples_.empty() && count < samples_.back().count) samples_.clear();  // a part of it has ended
  samples_.push_back({at, count});
  // The last sample before the window stays, so that the window is always full.
  while (samples_.size() > 2 && at - samples_[1].at >= window_) samples_.pop_front();
}

double RateMeter::per_second() const {
  if (samples_.size() < 2) return 0;
  const std::chrono::duration<double> time = samples_.back().at - samples_.front().at;
  if (time.count() <= 0) return 0;
  return static_cast<double>(samples_.back().count - samples_.front().count) / time.count();
}

}  // namespace lockstep
