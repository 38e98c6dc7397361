#include "replicator/log/repeat_filter.h"

#include <algorithm>
#include <utility>

namespace lockstep {

std::optional<std::int64_t> RepeatFilter::admit(const std::string& line, SteadyTime now) {
  const auto [seen, is_new] = seen_.try_emplace(line, Seen{now});
  if (!is_new && now - seen->second.written_at < interval_) {
    ++seen->second.left_out;
    return std::nullopt;
  }
  const std::int64_t left_out = std::exchange(seen->second, Seen{now}).left_out;
  if (seen_.size() > kMostLines) forget_oldest();
  return left_out;
}

void RepeatFilter::forget_oldest() {
  seen_.erase(std::min_element(seen_.begin(), seen_.end(), [](const auto& left, const auto& right) {
    return left.second.written_at < right.second.written_at;
  }));
}

}  // namespace lockstep
