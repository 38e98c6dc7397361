// What systemd is told about a service of Type=notify, and how often it wants to hear from it. Without
// systemd (no NOTIFY_SOCKET) nothing happens.
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

/// Holds off the watchdog.
void feed_watchdog();

/// WatchdogSec of the unit; none when no watchdog waits for this process.
std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace lockstep::systemd
