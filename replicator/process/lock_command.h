// A command that runs as long as a lease: started as a child, given the signals that we are given, and ended
// when the lease is lost. The child is the leader of a process group of its own, so that what it has started
// is ended with it; only where a terminal's foreground group is not ours to change (a script's, a pipeline's)
// does it stay in that.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "replicator/clock.h"

namespace lockstep {

/// Between SIGTERM and SIGKILL for a command whose lease is lost: short, since somebody else may have the
/// lock.
inline constexpr std::chrono::seconds kTermination{2};

/// While it lives, signals that would end or interest a program (TERM, INT, HUP, QUIT, USR1, USR2, WINCH,
/// CHLD) are not delivered but queue at a descriptor. To be made before any thread is started; one at a time.
class CaughtSignals {
 public:
  CaughtSignals();
  ~CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  struct Caught {
    int number = 0;
    bool from_terminal = false;  ///< the kernel sent it: to the terminal's whole foreground group
  };

  int descriptor() const { return descriptor_; }  ///< readable when next() has something
  std::optional<Caught> next();
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

/// Turns TERM, INT, HUP and QUIT into a stop request while something else than a command is waited for.
class StopOnSignal {
 public:
  explicit StopOnSignal(CaughtSignals& signals);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Which one it was. Ends the waiting for signals.
  std::optional<int> number();

 private:
  void watch();

  CaughtSignals& signals_;
  int end_ = -1;
  std::optional<int> number_;
  std::stop_source stop_;
  std::thread thread_;
};

/// One command, from its start to its end.
class LockCommand {
 public:
  /// Starts it with NAME=VALUE added to the environment. Throws Error when it cannot be started.
  LockCommand(CaughtSignals& signals, std::vector<std::string> command,
              const std::vector<std::string>& environment);
  /// Ends it when it still runs.
  ~LockCommand();
  LockCommand(const LockCommand&) = delete;
  LockCommand& operator=(const LockCommand&) = delete;

  /// From any thread: the lease is lost, end the command.
  void lose();

  /// Passes signals on until the command has ended; its exit code, or 128 + the signal that ended it.
  /// `good_until` says until when the lease runs at least; afterwards it counts as lost.
  int wait(const std::function<SteadyTime()>& good_until);

  /// Whether it was ended because the lease is lost.
  bool ended_by_us() const { return kill_at_.has_value(); }

 private:
  void start(std::vector<std::string>& command, const std::vector<std::string>& environment);
  void signal_child(int number) const;
  void pass_on_signals();
  std::optional<int> reap();
  void stop_with_child();

  CaughtSignals& signals_;
  pid_t pid_ = -1;
  int lost_ = -1;      // an eventfd
  int terminal_ = -1;  // handed over to the child; -1: none
  bool own_group_ = true;
  bool running_ = false;
  std::optional<SteadyTime> kill_at_;
};

}  // namespace lockstep
