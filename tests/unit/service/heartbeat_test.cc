#include "replicator/service/heartbeat.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "replicator/service/systemd.h"
#include "tests/support/eventually.h"
#include "tests/unit/service/hand_clock.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

// systemd's end of NOTIFY_SOCKET.
class HeartbeatTest : public testing::Test {
 protected:
  HeartbeatTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-notify-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    const std::string path = (folder_ / "socket").string();
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~HeartbeatTest() override {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(socket_);
    std::filesystem::remove_all(folder_);
  }

  const std::vector<std::string>& messages() {
    char buffer[4'096];
    for (ssize_t size = 0; (size = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;) {
      messages_.emplace_back(buffer, static_cast<std::size_t>(size));
    }
    return messages_;
  }

  bool hears(const std::string& message, long times) {
    return wait_until([&] { return std::ranges::count(messages(), message) >= times; }, seconds(10));
  }

  std::filesystem::path folder_;
  int socket_ = -1;
  std::vector<std::string> messages_;
  ProgressBoard board_;
  HandClock clock_;
};

TEST_F(HeartbeatTest, SystemdHearsWhatItIsTold) {
  systemd::notify_ready();
  systemd::notify_status("two\nlines");
  systemd::notify_stopping();
  EXPECT_THAT(messages(), testing::ElementsAre("READY=1", "STATUS=two lines", "STOPPING=1"));
}

TEST_F(HeartbeatTest, TheWatchdogIsFedOnlyWhileTheLoopGoesRound) {
  board_.update([&](ReplicationProgress& progress) { progress.turned_at = clock_.now(); });
  const Heartbeat heartbeat(board_, clock_, milliseconds(1));
  EXPECT_TRUE(hears("STATUS=connecting", 5));
  EXPECT_EQ(std::ranges::count(messages(), "WATCHDOG=1"), 1) << "it went round once";
  clock_.move(seconds(1));
  board_.update([&](ReplicationProgress& progress) { progress.turned_at = clock_.now(); });
  EXPECT_TRUE(hears("WATCHDOG=1", 2));
}

TEST_F(HeartbeatTest, ItIsReadyWhenItIsUpAndNotBefore) {
  const Heartbeat heartbeat(board_, clock_, milliseconds(1));
  EXPECT_TRUE(hears("STATUS=connecting", 5));
  EXPECT_EQ(std::ranges::count(messages(), "READY=1"), 0);
  board_.update([](ReplicationProgress& progress) { progress.epoch = Epoch{1}; });
  EXPECT_TRUE(hears("READY=1", 1));
  EXPECT_TRUE(hears("STATUS=connecting", 10));
  EXPECT_EQ(std::ranges::count(messages(), "READY=1"), 1) << "it is said once";
}

TEST_F(HeartbeatTest, TheWatchdogsIntervalIsSystemds) {
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_FALSE(systemd::watchdog_interval());
  ::setenv("WATCHDOG_USEC", "300000000", 1);
  EXPECT_EQ(systemd::watchdog_interval(), seconds(300));
  ::unsetenv("WATCHDOG_USEC");
}

TEST(StatusLineTest, SaysWhatMatters) {
  ReplicationProgress progress;
  EXPECT_EQ(status_line(progress, 0), "connecting");
  progress.state = PipelineState::kFollowing;
  EXPECT_EQ(status_line(progress, 3'400), "following: nothing pending, 3,400/s");
  progress.pending = true;
  progress.lag = milliseconds(12);
  progress.indices[IndexId{1}] = {.alias = "posts", .dead_letters = 3};
  EXPECT_EQ(status_line(progress, 0.25), "following: lag 12 ms, 0.2/s, 3 dead letters");
  progress.state = PipelineState::kBackfilling;
  progress.indices[IndexId{1}].jobs.push_back({.id = JobId{1}, .done = 1'200, .total = 48'000});
  EXPECT_EQ(status_line(progress, 10),
            "backfilling: lag 12 ms, 10/s, jobs at 1,200 of 48,000 documents, 3 dead letters");
  progress.state = PipelineState::kWaitingForElasticsearch;
  progress.reason = "connection refused";
  EXPECT_EQ(status_line(progress, 0), "waiting for elasticsearch: connection refused");
}

}  // namespace
}  // namespace lockstep
