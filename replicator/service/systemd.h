// Messages to systemd from a service of Type=notify. Without systemd (no NOTIFY_SOCKET) they do nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace lockstep::systemd {

/// The service is up.
void notify_ready();

/// The line that `systemctl status` shows.
void notify_status(const std::string& line);

/// The service is on its way down.
void notify_stopping();

/// Reports to the watchdog that the process works.
void feed_watchdog();

/// WatchdogSec of the unit; none if this process has no watchdog.
std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace lockstep::systemd
