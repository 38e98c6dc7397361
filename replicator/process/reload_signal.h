// SIGHUP as a request to read the configuration again, as systemctl reload sends it.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "replicator/process/event.h"

namespace lockstep {

/// Calls `on_signal` in a thread of its own for each SIGHUP as long as it lives. A process has at most one at
/// a time. REQUIRES: the process has one thread when this is made.
class ReloadSignal {
 public:
  explicit ReloadSignal(std::function<void()> on_signal);
  ~ReloadSignal();
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;

 private:
  void watch();

  const std::function<void()> on_signal_;
  sigset_t before_{};
  int descriptor_ = -1;
  Event end_;
  std::thread thread_;  // uses everything above
};

}  // namespace lockstep
