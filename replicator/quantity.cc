#include "replicator/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace lockstep {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// The greatest first: quantity_text() takes the first one that divides.
constexpr std::array<Unit, 5> kDurationUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizeUnits{{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

std::string quantity_text(std::int64_t number, std::span<const Unit> units) {
  if (number == 0) return "0" + std::string(units.back().name);
  for (const Unit& unit : units) {
    if (number % unit.factor == 0) return std::to_string(number / unit.factor) + std::string(unit.name);
  }
  return {};
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto number = parse_quantity(text, kDurationUnits);
  if (!number) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  return parse_quantity(text, kSizeUnits);
}

std::string duration_text(std::chrono::milliseconds duration) {
  return quantity_text(duration.count(), kDurationUnits);
}

std::string size_text(std::int64_t bytes) {
  return quantity_text(bytes, kSizeUnits);
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t digits_begin = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > digits_begin + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string counted(std::int64_t number, std::string_view noun, std::string_view plural) {
  std::string text = grouped(number) + " ";
  if (number == 1 || plural.empty()) text += noun;
  if (number != 1) text += plural.empty() ? "s" : plural;
  return text;
}

}  // namespace lockstep
