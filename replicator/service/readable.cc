#include "replicator/service/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "replicator/quantity.h"

namespace lockstep {

std::string readable(std::chrono::microseconds duration) {
  const std::int64_t milliseconds = duration.count() / 1'000;
  if (milliseconds < 1'000) return fmt::format("{} ms", milliseconds);
  if (milliseconds < 60'000) return fmt::format("{}.{} s", milliseconds / 1'000, milliseconds / 100 % 10);
  const std::int64_t seconds = milliseconds / 1'000;
  if (seconds < 3'600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3'600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86'400, seconds / 3'600 % 24);
}

std::string readable_left(std::chrono::milliseconds left) {
  using namespace std::chrono;
  if (left < minutes(1)) return std::to_string(ceil<seconds>(left).count()) + " s";
  // Up to the second unit, whose zero is left out.
  const auto two = [](std::int64_t number, std::int64_t in_one, const char* unit, const char* below) {
    const std::string text = std::to_string(number / in_one) + " " + unit;
    return number % in_one == 0 ? text : text + " " + std::to_string(number % in_one) + " " + below;
  };
  if (left <= hours(1) - minutes(1)) return two(ceil<seconds>(left).count(), 60, "min", "s");
  if (left <= days(1) - hours(1)) return two(ceil<minutes>(left).count(), 60, "h", "min");
  return two(ceil<hours>(left).count(), 24, "d", "h");
}

std::string readable_size(std::int64_t bytes) {
  if (bytes < 1'024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes);
  for (const char* unit : {"KiB", "MiB", "GiB", "TiB"}) {
    size /= 1'024;
    if (size < 1'023.95 || unit == std::string_view("TiB")) return fmt::format("{:.1f} {}", size, unit);
  }
  return {};
}

std::string rate_text(double per_second) {
  if (per_second > 0 && per_second < 9.95) return fmt::format("{:.1f}/s", per_second);
  return grouped(std::llround(std::max(per_second, 0.0))) + "/s";
}

}  // namespace lockstep
