#include "replicator/service/credential_watch.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "replicator/log/log.h"
#include "tests/support/eventually.h"
#include "tests/unit/config/config_folder.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

class CredentialWatchTest : public ConfigFolder {
 protected:
  CredentialWatchTest() {
    write("key", "old\n");
    start_logging(LogFormat::kText, "error");
  }

  Config config() const { return load(kSource + "[elasticsearch]\napi_key_file = \"key\"\n" + kIndex); }

  static std::string key(const LiveConfig& live) {
    return live.values().config->elasticsearch.api_key.value();
  }

  static BulkWriter::TransportFactory none(const ElasticsearchConfig&) { return {}; }
};

TEST_F(CredentialWatchTest, ASecretThatIsRotatedIsTakenOverAndAnUnfinishedConfigurationIsNot) {
  LiveConfig live(config(), none);
  const LiveConfig::Values before = live.values();
  const CredentialWatch watch(live, 5ms);
  write("lockstep.toml", "half a fi");
  write("key", "rotated\n");
  EXPECT_TRUE(support::wait_until([&] { return key(live) == "rotated"; }, 10s, 5ms));
  EXPECT_TRUE(before.replaced.stop_requested());
}

TEST_F(CredentialWatchTest, ASecretThatWasRotatedBeforeTheFirstLookIsTakenOverToo) {
  LiveConfig live(config(), none);
  write("key", "early\n");
  const CredentialWatch watch(live, 1h);
  EXPECT_TRUE(support::wait_until([&] { return key(live) == "early"; }, 10s, 5ms));
}

// `cp -p` and `rsync -t` keep the time of modification, and the key has the length of the old one.
TEST_F(CredentialWatchTest, ASecretRotatedInPlaceWithTheSameSizeAndTimeIsTakenOver) {
  LiveConfig live(config(), none);
  const CredentialWatch watch(live, 200ms);
  const auto modified = std::filesystem::last_write_time(folder_ / "key");
  const auto is_later = [&] { return std::filesystem::last_write_time(write("tick", "")) > modified; };
  ASSERT_TRUE(support::wait_until(is_later, 10s, 1ms));
  write("key", "new\n");
  std::filesystem::last_write_time(folder_ / "key", modified);
  EXPECT_TRUE(support::wait_until([&] { return key(live) == "new"; }, 10s, 5ms));
}

TEST_F(CredentialWatchTest, AFileThatIsEmptyForAMomentChangesNothing) {
  start_logging(LogFormat::kText, "info");
  const auto said = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(10);
  spdlog::default_logger()->sinks().push_back(said);
  LiveConfig live(config(), none);
  const CredentialWatch watch(live, 5ms);
  write("key", "");
  const auto refused = [](const std::string& line) { return line.find("not reloaded") != std::string::npos; };
  EXPECT_TRUE(
      support::wait_until([&] { return std::ranges::any_of(said->last_formatted(), refused); }, 10s, 5ms));
  EXPECT_EQ(key(live), "old");
  write("key", "whole\n");
  EXPECT_TRUE(support::wait_until([&] { return key(live) == "whole"; }, 10s, 5ms));
}

}  // namespace
}  // namespace lockstep
