#include "replicator/log.h"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "replicator/error.h"

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

TEST(LogTest, AnUnknownLevelIsAUsageError) {
  EXPECT_THROW(start_logging(LogFormat::kText, "loud"), UsageError);
}

}  // namespace
}  // namespace lockstep
