#include "replicator/service/history.h"

#include <algorithm>

namespace lockstep {
namespace {

std::int64_t step_of(WallTime at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count() / History::kStep.count();
}

}  // namespace

void History::add(WallTime at, const Sample& sample) {
  const MutexLock lock(mutex_);
  std::int64_t number = step_of(at);
  // Earlier steps have a time that is still to come.
  if (!steps_.empty() && steps_.back().number > number + 1) steps_.clear();
  if (!steps_.empty()) number = std::max(number, steps_.back().number);
  if (steps_.empty() || steps_.back().number < number) steps_.push_back({.number = number});
  while (steps_.front().number <= number - kSteps) steps_.pop_front();
  Step& step = steps_.back();
  step.longest_lag = std::max(step.longest_lag, sample.lag);
  if (!sample.documents) {
    last_count_.reset();
    return;
  }
  // A lesser count has lost an index that ended.
  if (last_count_ && at > last_count_->at && *sample.documents >= last_count_->documents) {
    step.documents += *sample.documents - last_count_->documents;
    step.measured += at - last_count_->at;
  }
  last_count_ = {at, *sample.documents};
}

std::vector<History::Point> History::points(WallTime now) const {
  const MutexLock lock(mutex_);
  std::vector<Point> points(kSteps);
  const std::int64_t first = step_of(now) - kSteps + 1;
  for (const Step& step : steps_) {
    const std::int64_t at = step.number - first;
    if (at < 0 || at >= kSteps) continue;
    Point& point = points[static_cast<std::size_t>(at)];
    point.lag_seconds = std::chrono::duration<double>(step.longest_lag).count();
    if (step.measured.count() > 0)
      point.documents_per_second = static_cast<double>(step.documents) / step.measured.count();
  }
  return points;
}

}  // namespace lockstep
