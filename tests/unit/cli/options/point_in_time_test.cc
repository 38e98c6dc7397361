#include "replicator/cli/options/point_in_time.h"

#include <gmock/gmock.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;
using testing::HasSubstr;

constexpr auto kToday = std::chrono::year(2026) / 2 / 1;
constexpr TimePoint kNow = sys_days(kToday) + 13h + 30min + 15s + 250ms;
constexpr TimePoint kNoon = sys_days(std::chrono::year(2026) / 1 / 31) + 12h;

std::optional<TimePoint> parse(const char* text) {
  return parse_point_in_time(text, kNow);
}

TEST(PointInTimeTest, AnAgeIsCountedBackFromNow) {
  EXPECT_EQ(parse("2h"), kNow - 2h);
  EXPECT_EQ(parse("30m"), kNow - 30min);
  EXPECT_EQ(parse("90min"), kNow - 90min);
  EXPECT_EQ(parse("45s"), kNow - 45s);
  EXPECT_EQ(parse("7d"), kNow - days(7));
  EXPECT_EQ(parse("2 hours"), kNow - 2h);
  EXPECT_EQ(parse("1 week"), kNow - days(7));
  EXPECT_EQ(parse("0s"), kNow);
}

TEST(PointInTimeTest, WordsAreMidnightsInUtc) {
  EXPECT_EQ(parse("now"), kNow);
  EXPECT_EQ(parse("today"), TimePoint(sys_days(kToday)));
  EXPECT_EQ(parse("yesterday"), TimePoint(sys_days(kToday) - days(1)));
  EXPECT_EQ(parse("Yesterday"), parse("yesterday"));
}

TEST(PointInTimeTest, DatesAndTimesAreUtcWithoutAZone) {
  EXPECT_EQ(parse("2026-01-31"), kNoon - 12h);
  EXPECT_EQ(parse("2026-01-31T12:00"), kNoon);
  EXPECT_EQ(parse("2026-01-31 12:00"), kNoon);
  EXPECT_EQ(parse("2026-01-31T12:00:30"), kNoon + 30s);
  EXPECT_EQ(parse("2026-01-31T12:00:30.5"), kNoon + 30s + 500ms);
  EXPECT_EQ(parse("2026-01-31T12:00:00.000001Z"), kNoon + 1us) << "as `list` prints it";
  EXPECT_EQ(parse("2026-01-31t12:00z"), kNoon);
  EXPECT_EQ(parse("2024-02-29"), TimePoint(sys_days(std::chrono::year(2024) / 2 / 29)));
}

TEST(PointInTimeTest, AZoneSaysHowFarItIsAheadOfUtc) {
  EXPECT_EQ(parse("2026-01-31T12:00+02"), kNoon - 2h);
  EXPECT_EQ(parse("2026-01-31T12:00+0230"), kNoon - 2h - 30min);
  EXPECT_EQ(parse("2026-01-31 12:00:00+02:30"), kNoon - 2h - 30min);
  EXPECT_EQ(parse("2026-01-31T12:00-05:00"), kNoon + 5h);
}

TEST(PointInTimeTest, AnythingElseIsNone) {
  for (const char* text : {"",
                           "nonsense",
                           "h",
                           "2",
                           "-2h",
                           "2.5h",
                           "2x",
                           "2  hours",
                           "99999999999999999999s",
                           "9999999999w",
                           "2026",
                           "2026-13-01",
                           "2026-02-29",
                           "2026-1-31",
                           "2026-01-31T",
                           "2026-01-31T12",
                           "2026-01-31T24:00",
                           "2026-01-31T12:60",
                           "2026-01-31T12:00:60",
                           "2026-01-31T12:00:00.",
                           "2026-01-31T12:00:00.1234567890",
                           "2026-01-31T12:00+",
                           "2026-01-31T12:00+2",
                           "2026-01-31T12:00+02:",
                           "2026-01-31T12:00+02:00 ",
                           "2026-01-31T12:00 UTC",
                           "1969-12-31",
                           "2262-01-01"}) {
    EXPECT_EQ(parse(text), std::nullopt) << text;
  }
}

TEST(PointInTimeTest, TheErrorNamesTheOptionTheTextAndTheForms) {
  try {
    point_in_time("--since", "noon", kNow);
    FAIL();
  } catch (const UsageError& error) {
    for (const char* part : {"--since: \"noon\"", "2026-01-31T12:00", "yesterday", "2h"})
      EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace lockstep
