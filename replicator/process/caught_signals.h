// Signals that wait in a queue instead of ending the process, for a command that has to give a lock back
// first. Unlike StopSignals they have no deadline, and a second signal does not end the process.
#pragma once

#include <signal.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "replicator/process/event.h"

namespace lockstep {

/// Queues the signals that end or interest a program (TERM, INT, HUP, QUIT, ALRM, USR1, USR2, WINCH, CHLD) as
/// long as it lives. A process has at most one at a time. REQUIRES: the process has one thread when this is
/// made.
class CaughtSignals {
 public:
  CaughtSignals();
  ~CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  struct Caught {
    int number = 0;
    bool from_terminal = false;  ///< the kernel sent it to the terminal's whole foreground group
  };

  int descriptor() const { return descriptor_; }  ///< readable when next() has a signal
  std::optional<Caught> next();
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

/// Whether it is TERM, INT, HUP, QUIT or ALRM.
bool ends_a_program(int number);

/// Turns TERM, INT, HUP, QUIT and ALRM into a stop request.
class StopOnSignal {
 public:
  explicit StopOnSignal(CaughtSignals& signals);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The first of these signals, if one has come. Stops watching for them.
  std::optional<int> number();

 private:
  void watch();

  CaughtSignals& signals_;
  Event end_;
  std::optional<int> number_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace lockstep
