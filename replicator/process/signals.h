// SIGTERM and SIGINT as a request to stop. The first one asks, the second ends the process at once, and so
// does the deadline: whatever hangs (a connection that was cut, a server that does not answer), the process
// is gone in time, and what was not acknowledged is done again by whoever comes next.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

namespace lockstep {

/// How long after the first signal the process ends on its own if it hasn't.
inline constexpr std::chrono::seconds kStopDeadline{5};

/// One at a time in a process, for the life of a verb that runs until it is stopped.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait_for_signal();

  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace lockstep
