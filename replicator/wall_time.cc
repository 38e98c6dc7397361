#include "replicator/wall_time.h"

#include <array>
#include <ctime>

namespace lockstep {
namespace {

template <typename Fraction>
std::string text_of(WallTime time, std::size_t digits) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = std::chrono::system_clock::to_time_t(second);
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", &utc);
  const std::string fraction = std::to_string(std::chrono::floor<Fraction>(time - second).count());
  return std::string(text.data(), length) + std::string(digits - fraction.size(), '0') + fraction + "Z";
}

}  // namespace

std::string utc_text(WallTime time) {
  return text_of<std::chrono::milliseconds>(time, 3);
}

std::string utc_text_to_the_microsecond(WallTime time) {
  return text_of<std::chrono::microseconds>(time, 6);
}

}  // namespace lockstep
