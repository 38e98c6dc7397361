// SIGTERM and SIGINT as a request to stop, for a command that runs until it is stopped. The first signal
// asks. The second one ends the process at once, and so does a deadline: whatever hangs (a cut connection, a
// server that does not answer), the process ends in time. The next process repeats unacknowledged work.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

namespace lockstep {

/// The process ends itself so long after the first signal.
inline constexpr std::chrono::seconds kStopDeadline{5};

/// A process has at most one at a time.
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
