#include "replicator/source/sqlite/watch/wakeup.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

namespace lockstep {
namespace {

// A look all the same: an event may have come too early.
constexpr std::chrono::milliseconds kFallback{250};

constexpr std::uint32_t kEvents = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO;

}  // namespace

SqliteWakeup::SqliteWakeup(const SqliteFile& file)
    : name_(file.path().filename()), descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  const std::string folder = file.path().parent_path();
  if (descriptor_ >= 0 && inotify_add_watch(descriptor_, folder.c_str(), kEvents) >= 0) return;
  spdlog::warn(
      "{} cannot be watched ({}), so changes are looked for every replication.poll_interval, which costs "
      "more; "
      "if too many folders are watched, raise fs.inotify.max_user_watches and max_user_instances",
      folder, std::strerror(errno));
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

SqliteWakeup::~SqliteWakeup() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool SqliteWakeup::wait(std::chrono::nanoseconds at_most, std::chrono::milliseconds check_every) {
  if (descriptor_ < 0) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(at_most, check_every));
    return false;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::min<std::chrono::nanoseconds>(at_most, kFallback);
  while (true) {
    if (read_events()) return true;
    const auto left = end - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    pollfd watched{descriptor_, POLLIN, 0};
    ppoll(&watched, 1, &time, nullptr);
  }
}

bool SqliteWakeup::read_events() {
  bool concerns_us = false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  while (true) {
    const ssize_t length = read(descriptor_, buffer.data(), buffer.size());
    if (length <= 0) return concerns_us;
    for (ssize_t at = 0; at < length;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string_view name = event.len == 0 ? std::string_view() : buffer.data() + at + sizeof event;
      concerns_us |= name == name_ || name == name_ + "-wal" || name == name_ + "-journal";
      concerns_us |= (event.mask & IN_Q_OVERFLOW) != 0;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

}  // namespace lockstep
