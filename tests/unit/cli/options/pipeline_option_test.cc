// A password on the command line is in the list of processes, so the owner's url has other ways.
#include "replicator/cli/options/pipeline_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "tests/unit/config/config_folder.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class PipelineOptionTest : public ConfigFolder {
 protected:
  Config load_with(std::vector<std::string> arguments) {
    const std::filesystem::path file = write(
        "lockstep.toml",
        "[source]\nurl = \"postgresql://lockstep@/shop\"\n[elasticsearch]\nurls = "
        "[\"http://localhost:9200\"]\n[[index]]\nalias = \"blogposts\"\nmapping = \"blogposts.json\"\nview = "
        "\"search.blogposts\"\n[[index.track]]\ntable = \"blog.blogposts\"\n");
    CLI::App app;
    PipelineOption option;
    option.add_to(Options(app));
    option.add_owner_to(Options(app));
    arguments.insert(arguments.end(), {"-c", file.string()});
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    return option.load();
  }
};

TEST_F(PipelineOptionTest, ThePasswordOfTheOwnerComesFromAFileOrTheEnvironment) {
  const std::string url = "postgresql://owner:pass%20word@/shop";
  ::setenv("LOCKSTEP_TEST_OWNER", url.c_str(), 1);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--as-file", write("owner", url + "\n").string()},
        std::vector<std::string>{"--as-env", "LOCKSTEP_TEST_OWNER"}}) {
    const Config config = load_with(arguments);
    EXPECT_EQ(config.source.url, "postgresql://owner@/shop");
    EXPECT_EQ(config.source.password.value(), "pass word");
  }
}

TEST_F(PipelineOptionTest, APasswordOnTheCommandLineIsWarnedOf) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_with({"--as", "postgresql://owner:x@/shop"}).source.password.value(), "x");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--as-file"));
  testing::internal::CaptureStderr();
  load_with({"--as", "postgresql://owner@/shop"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(PipelineOptionTest, WhatCannotBeReadIsNamedByItsOption) {
  const auto error_of = [&](const std::vector<std::string>& arguments) -> std::string {
    try {
      load_with(arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of({"--as-file", "/nowhere/owner"}), HasSubstr("--as-file: "));
  EXPECT_THAT(error_of({"--as-env", "LOCKSTEP_TEST_NOTHING"}), HasSubstr("--as-env: "));
  EXPECT_THROW(load_with({"--as", "postgresql://a@/b", "--as-env", "X"}), CLI::ParseError);
}

}  // namespace
}  // namespace lockstep
