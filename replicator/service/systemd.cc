#include "replicator/service/systemd.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>

namespace lockstep::systemd {
namespace {

// Ignores failures: there is nothing to do about them.
void notify(const std::string& message) {
  sd_notify(0, message.c_str());
}

}  // namespace

void notify_ready() {
  notify("READY=1");
}

void notify_status(const std::string& line) {
  std::string one_line = line;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  notify("STATUS=" + one_line);
}

void notify_stopping() {
  notify("STOPPING=1");
}

void feed_watchdog() {
  notify("WATCHDOG=1");
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

}  // namespace lockstep::systemd
