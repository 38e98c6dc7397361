#include "replicator/log/log.h"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "replicator/error.h"
#include "replicator/log/log_repeats.h"

namespace lockstep {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

TEST(LogTest, JsonLinesAreOneObjectALineWhateverIsLogged) {
  CaptureStderr();
  start_logging(LogFormat::kJson, "info");
  spdlog::warn("two\nlines, a \"quote\" and a broken byte \xff");
  spdlog::debug("below the level");
  const std::string text = GetCapturedStderr();
  ASSERT_EQ(text.find('\n'), text.size() - 1) << text;
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["message"], "two\nlines, a \"quote\" and a broken byte \xef\xbf\xbd");
  EXPECT_THAT(line["time"].get<std::string>(), testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
}

TEST(LogTest, ALineHasTheFieldsOfTheProcessAndOfWhatItIsAbout) {
  const auto logged = [] {
    CaptureStderr();
    start_logging(LogFormat::kJson, "info");
    spdlog::info("something");
    return nlohmann::json::parse(GetCapturedStderr());
  };
  set_log_field("epoch", "6");
  set_log_field("epoch", "7");
  {
    const LogField index("index", "posts");
    const LogField error("error", "source_away");
    const auto line = logged();
    EXPECT_EQ(line.at("epoch"), "7");
    EXPECT_EQ(line.at("index"), "posts");
    EXPECT_EQ(line.at("error"), "source_away");
  }
  EXPECT_FALSE(logged().contains("index")) << "it is about nothing any more";
}

TEST(LogTest, TheLevelChangesWhileItRuns) {
  CaptureStderr();
  start_logging(LogFormat::kText, "error");
  spdlog::info("too quiet");
  set_log_level("info");
  spdlog::info("loud enough");
  EXPECT_THAT(GetCapturedStderr(), testing::MatchesRegex("..:..:..\\.... info    loud enough\n"));
  EXPECT_THROW(set_log_level("loud"), UsageError);
}

TEST(LogTest, WithoutATerminalItIsJson) {
  CaptureStderr();
  start_logging(LogFormat::kAuto, "debug");
  spdlog::debug("hello");
  EXPECT_EQ(nlohmann::json::parse(GetCapturedStderr())["message"], "hello");
}

TEST(LogTest, TextHasTimeLevelAndMessage) {
  CaptureStderr();
  start_logging(LogFormat::kText, "error");
  spdlog::error("it is {}", "late");
  EXPECT_THAT(GetCapturedStderr(), testing::MatchesRegex("..:..:..\\.... error   it is late\n"));
}

TEST(LogTest, TroubleThatComesAgainAtOnceIsLoggedOnceForEachThingThatItIsAbout) {
  CaptureStderr();
  start_logging(LogFormat::kJson, "info");
  for (int i = 0; i < 3; ++i) spdlog::warn("it does not answer");
  {
    const LogField index("index", "posts");
    spdlog::warn("it does not answer");
  }
  for (int i = 0; i < 2; ++i) spdlog::info("an event is an event");
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
}

TEST(LogTest, WhoeverWarnsOfTroubleLearnsThatTheLineWasLeftOut) {
  CaptureStderr();
  start_logging(LogFormat::kText, "info");
  EXPECT_TRUE(warn_of_trouble("it is away"));
  EXPECT_FALSE(warn_of_trouble("it is away"));
  EXPECT_TRUE(warn_of_trouble("it refuses us"));
  start_logging(LogFormat::kText, "error");
  EXPECT_TRUE(warn_of_trouble("it is away")) << "nobody wants to read it";
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST(LogTest, AnUnknownLevelIsAUsageError) {
  EXPECT_THROW(start_logging(LogFormat::kText, "loud"), UsageError);
}

}  // namespace
}  // namespace lockstep
