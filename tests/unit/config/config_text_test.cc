#include "replicator/config/config_text.h"

#include <gmock/gmock.h>

#include "replicator/config/config_key_text.h"
#include "tests/unit/config/config_folder.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

using ConfigTextTest = ConfigFolder;

TEST_F(ConfigTextTest, TheSampleIsAValidConfigurationWithEveryKey) {
  const std::string sample = sample_config();
  EXPECT_EQ(faults(sample), "");
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.name + (key.type == "secret" ? "_file = " : " = ");
    EXPECT_THAT(sample, HasSubstr(name)) << key.section;
  }
}

TEST_F(ConfigTextTest, WhatIsCommentedOutInTheSampleIsValidToo) {
  write("secret", "s3cret");
  std::string uncommented;
  std::istringstream lines(sample_config());
  for (std::string line; std::getline(lines, line);) {
    const bool key = line.starts_with("# ") && line.find(" = ") != std::string::npos &&
                     line.find(' ', 2) == line.find(" = ");
    // What excludes what is already there, is for another source, or names a file that is not there.
    const bool excluded =
        key && (line.find("_file = ") != std::string::npos || line.find("username") != std::string::npos ||
                line.find("client_") != std::string::npos || line.starts_with("# aws_region") ||
                line.find("keys = ") == 2 || line.find("ignore") == 2 || line.find("json = ") == 2);
    uncommented += (key && !excluded ? line.substr(2) : line) + "\n";
  }
  EXPECT_EQ(faults(uncommented), "") << uncommented;
}

TEST_F(ConfigTextTest, WhatIsInForceCanBeLoadedAgain) {
  const Config config = load(
      kSource +
      "[elasticsearch]\nbulk_bytes = 100000\n[replication]\nmax_refused_share = 0.05\n[log]\nlevel = "
      "\"warn\"\n" +
      kIndex + "[[index.track]]\ntable = \"blog.users\"\ncolumn = \"_user_id\"\ncolumns = [\"na\\\"me\"]\n");
  const std::string text = config_text(config);
  EXPECT_THAT(text, HasSubstr("bulk_bytes = \"100000B\""));
  EXPECT_THAT(text, HasSubstr("max_refused_share = 0.05\n"));
  const Config again = load(text);
  EXPECT_EQ(config_text(again), text);
}

TEST_F(ConfigTextTest, SecretsAreNotPrinted) {
  const Config config =
      load(kSource + "password = \"hunter2\"\n[elasticsearch]\napi_key = \"hunter2\"\n" + kIndex);
  EXPECT_THAT(config_text(config), Not(HasSubstr("hunter2")));
  EXPECT_THAT(config_text(config), HasSubstr("api_key = \"(secret)\""));
}

}  // namespace
}  // namespace lockstep
