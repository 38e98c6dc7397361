// A command that runs as long as a lease: a child process that gets the signals that we get, and that ends
// with the lease, together with all processes that it has started, however they were started.
//
//   lockstep ── guard ── COMMAND ── …
//
// The guard is a fork of us that waits for the command. Orphans below it become its children. When the
// command has ended it ends the processes that the command has left, and then itself with the command's exit
// code. When we die, by SIGKILL or otherwise, it ends the command and all below it at once, and when we are
// stopped before the lease ends. So nothing but SIGSTOP for itself stops it, and it knows the end of the
// lease from its start. When the guard is killed, we end them: orphans become our children then. When both
// are killed at once, the command dies with the guard, and the processes that it has started can continue.
// Another user's processes, and those that a service starts on request, are out of reach (descendants.h).
//
// The guard leads a process group of its own, with the command in it. Only if the terminal's foreground group
// is not ours to change (in a script, in a pipeline) does the command stay in that group; the guard leaves
// it, so that a stop or kill of the whole group spares the guard.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/process/caught_signals.h"
#include "replicator/process/event.h"
#include "replicator/process/inherited_descriptors.h"

namespace lockstep {

/// The longest time between SIGTERM and SIGKILL. It is short, since another process may have the lock, or
/// waits for it.
inline constexpr std::chrono::seconds kTermination{2};

/// The command could not be started.
class NotStarted : public Error {
 public:
  NotStarted(const std::string& command, int error);

  /// As in a shell: 127 if there is no such command, else 126.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// One command, from its start to its end.
class LeasedCommand {
 public:
  struct Start {
    std::vector<std::string> command;
    std::vector<std::string> environment = {};  ///< NAME=VALUE texts that are added
    SteadyTime good_until;  ///< the end of its lease, as long as wait() names no later one
  };

  /// Starts it. It gets the `inherited` descriptors, and no others. Throws NotStarted.
  LeasedCommand(CaughtSignals& signals, const InheritedDescriptors& inherited, Start start);
  /// Kills it, and all that it has started, if it still runs.
  ~LeasedCommand();
  LeasedCommand(const LeasedCommand&) = delete;
  LeasedCommand& operator=(const LeasedCommand&) = delete;

  /// Reports, from any thread, that the lease is lost: wait() ends the command.
  void lose();

  /// Passes signals on until the command and all that it has started have ended. Returns its exit code, or
  /// 128 + the signal that ended it. When `good_until()`, the end of the lease, comes nearer than `grace`, it
  /// sends SIGTERM, and SIGKILL when the lease ends.
  int wait(const std::function<SteadyTime()>& good_until, std::chrono::milliseconds grace = kTermination);

  /// Whether we ended it because the lease was lost.
  bool ended_by_us() const { return kill_at_.has_value() || shared_->expired.load(); }

  /// The signal that killed the guard, if one did; the command was ended then.
  std::optional<int> guard_killed() const { return guard_killed_; }

 private:
  /// The memory shared with the guard.
  struct Shared {
    std::atomic<pid_t> command = 0;
    std::atomic<SteadyTime> good_until = {};
    /// So long before, the guard sends SIGTERM: later than we would, so that it does so only in our place.
    std::atomic<std::chrono::milliseconds> grace = std::chrono::milliseconds(0);
    std::atomic<bool> terminated = false;  ///< we have sent it
    std::atomic<bool> stopped = false;     ///< the command was stopped at the terminal
    std::atomic<bool> expired = false;     ///< the guard ended the command, since the lease had run out
  };

  void start(const InheritedDescriptors& inherited, Start& start);
  [[noreturn]] void guard(char* const* argv, char* const* envp, int alive, int failure) const;
  void terminate(SteadyTime kill_at);
  void kill_all();
  void signal_child(int number) const;
  void pass_on_signals();
  std::optional<int> reap();
  void stop_with_child();

  CaughtSignals& signals_;
  pid_t pid_ = -1;  // the guard's
  Shared* shared_ = nullptr;
  int alive_ = -1;  // the guard sees it close when we die
  Event lost_;
  int terminal_ = -1;  // that the child has been given; -1: none
  bool own_group_ = true;
  bool running_ = false;
  std::optional<SteadyTime> kill_at_;
  std::optional<int> guard_killed_;
};

}  // namespace lockstep
