#include "replicator/cli/options/point_in_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// TimePoint counts nanoseconds in 64 bits, which end in 2262.
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2261;

constexpr std::array<std::pair<std::string_view, seconds>, 18> kUnits{{
    {"s", seconds(1)},
    {"sec", seconds(1)},
    {"second", seconds(1)},
    {"seconds", seconds(1)},
    {"m", minutes(1)},
    {"min", minutes(1)},
    {"minute", minutes(1)},
    {"minutes", minutes(1)},
    {"h", hours(1)},
    {"hour", hours(1)},
    {"hours", hours(1)},
    {"d", days(1)},
    {"day", days(1)},
    {"days", days(1)},
    {"w", days(7)},
    {"week", days(7)},
    {"weeks", days(7)},
    {"hr", hours(1)},
}};

/// Takes one part after another from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  /// All digits in front; none if there is none or the number is too large.
  std::optional<std::int64_t> number() {
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    return digits == 0 ? std::nullopt : number_of(digits);
  }

  /// Exactly so many digits.
  std::optional<int> number(std::size_t digits) {
    if (text_.substr(0, digits).find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    if (text_.size() < digits) return std::nullopt;
    const auto value = number_of(digits);
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  }

  /// Digits behind a decimal point, as nanoseconds.
  std::optional<nanoseconds> fraction() {
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (digits == 0 || digits > 9) return std::nullopt;
    std::string padded(text_.substr(0, digits));
    padded.resize(9, '0');
    text_.remove_prefix(digits);
    return nanoseconds(std::stoi(padded));
  }

  std::string_view rest() const { return text_; }

 private:
  std::optional<std::int64_t> number_of(std::size_t digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + digits, value);
    if (error != std::errc{}) return std::nullopt;
    text_.remove_prefix(digits);
    return value;
  }

  std::string_view text_;
};

std::optional<TimePoint> parse_word(std::string_view text, TimePoint now) {
  const auto today = std::chrono::floor<days>(now);
  if (text == "now") return now;
  if (text == "today") return today;
  if (text == "yesterday") return today - days(1);
  return std::nullopt;
}

std::optional<TimePoint> parse_age(std::string_view text, TimePoint now) {
  Scanner scanner(text);
  const std::optional<std::int64_t> number = scanner.number();
  scanner.take(' ');
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const auto& known) { return known.first == scanner.rest(); });
  if (!number || unit == kUnits.end()) return std::nullopt;
  if (*number > now.time_since_epoch() / unit->second) return std::nullopt;
  return now - *number * unit->second;
}

std::optional<std::chrono::sys_days> parse_date(Scanner& scanner) {
  const auto year = scanner.number(4);
  if (!year || *year < kFirstYear || *year > kLastYear || !scanner.take('-')) return std::nullopt;
  const auto month = scanner.number(2);
  if (!month || !scanner.take('-')) return std::nullopt;
  const auto day = scanner.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

std::optional<nanoseconds> parse_time_of_day(Scanner& scanner) {
  const auto hour = scanner.number(2);
  if (!hour || *hour > 23 || !scanner.take(':')) return std::nullopt;
  const auto minute = scanner.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  nanoseconds time = hours(*hour) + minutes(*minute);
  if (!scanner.take(':')) return time;
  const auto second = scanner.number(2);
  if (!second || *second > 59) return std::nullopt;
  time += seconds(*second);
  if (!scanner.take('.')) return time;
  const auto fraction = scanner.fraction();
  return fraction ? std::optional(time + *fraction) : std::nullopt;
}

/// A zone's offset from UTC; without one zero.
std::optional<minutes> parse_zone(Scanner& scanner) {
  if (scanner.at_end() || scanner.take('z')) return minutes(0);
  const bool behind = scanner.take('-');
  if (!behind && !scanner.take('+')) return std::nullopt;
  const auto hour = scanner.number(2);
  if (!hour || *hour > 15) return std::nullopt;
  minutes ahead = hours(*hour);
  if (!scanner.at_end()) {
    scanner.take(':');
    const auto minute = scanner.number(2);
    if (!minute || *minute > 59) return std::nullopt;
    ahead += minutes(*minute);
  }
  return behind ? -ahead : ahead;
}

std::optional<TimePoint> parse_iso_8601(std::string_view text) {
  Scanner scanner(text);
  const auto date = parse_date(scanner);
  if (!date) return std::nullopt;
  if (scanner.at_end()) return *date;
  if (!scanner.take('t') && !scanner.take(' ')) return std::nullopt;
  const auto time = parse_time_of_day(scanner);
  if (!time) return std::nullopt;
  const auto ahead = parse_zone(scanner);
  if (!ahead || !scanner.at_end()) return std::nullopt;
  return *date + *time - *ahead;
}

}  // namespace

std::optional<TimePoint> parse_point_in_time(std::string_view text, TimePoint now) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (const auto time = parse_word(lower, now)) return time;
  if (const auto time = parse_age(lower, now)) return time;
  return parse_iso_8601(lower);
}

TimePoint point_in_time(const std::string& option, const std::string& text, TimePoint now) {
  if (const auto time = parse_point_in_time(text, now)) return *time;
  throw UsageError(option + ": \"" + text +
                   "\" is not a point in time; write 2026-01-31 or 2026-01-31T12:00 (UTC), "
                   "2026-01-31T12:00+02:00, now, today, yesterday, or an age such as 90min, 2h or 3d");
}

}  // namespace lockstep
