// A command that runs as long as a lease: a child process that gets the signals that we get, and that we end
// when the lease is lost. The child leads a process group of its own, so that we end what it has started,
// too. Only where the terminal's foreground group is not ours to change (in a script, in a pipeline) does it
// stay in that group.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/process/caught_signals.h"
#include "replicator/process/event.h"

namespace lockstep {

/// The time between SIGTERM and SIGKILL for a command whose lease is lost. It is short, since somebody else
/// may have the lock.
inline constexpr std::chrono::seconds kTermination{2};

/// One command, from its start to its end.
class LeasedCommand {
 public:
  /// Starts it with the NAME=VALUE texts of `environment` added. Throws Error when it cannot be started.
  LeasedCommand(CaughtSignals& signals, std::vector<std::string> command,
                const std::vector<std::string>& environment);
  /// Kills it if it still runs.
  ~LeasedCommand();
  LeasedCommand(const LeasedCommand&) = delete;
  LeasedCommand& operator=(const LeasedCommand&) = delete;

  /// Says, from any thread, that the lease is lost: wait() ends the command.
  void lose();

  /// Passes signals on until the command has ended. Returns its exit code, or 128 + the signal that ended it.
  /// The lease counts as lost once `good_until()` has passed.
  int wait(const std::function<SteadyTime()>& good_until);

  /// Whether we ended it because the lease was lost.
  bool ended_by_us() const { return kill_at_.has_value(); }

 private:
  void start(std::vector<std::string>& command, const std::vector<std::string>& environment);
  void signal_child(int number) const;
  void pass_on_signals();
  std::optional<int> reap();
  void stop_with_child();

  CaughtSignals& signals_;
  pid_t pid_ = -1;
  Event lost_;
  int terminal_ = -1;  // that the child has been given; -1: none
  bool own_group_ = true;
  bool running_ = false;
  std::optional<SteadyTime> kill_at_;
};

}  // namespace lockstep
