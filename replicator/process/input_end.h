// Waits for the end of standard input, for as long as a lease lasts: the other end of the pipe holds the
// lock.
#pragma once

#include <functional>
#include <optional>

#include "replicator/clock.h"
#include "replicator/process/caught_signals.h"
#include "replicator/process/event.h"

namespace lockstep {

class InputEnd {
 public:
  explicit InputEnd(CaughtSignals& signals) : signals_(signals) {}

  /// Reports, from any thread, that the lease is lost.
  void lose() { lost_.set(); }

  /// Why it waits no longer: the input has ended, unless noted otherwise.
  struct Cause {
    std::optional<int> signal;  ///< TERM, INT, HUP, QUIT or ALRM came
    bool lost = false;          ///< the lease
  };
  /// Reads the input, and discards it. The lease counts as lost once `good_until()` has passed.
  Cause wait(const std::function<SteadyTime()>& good_until);

 private:
  CaughtSignals& signals_;
  Event lost_;
};

}  // namespace lockstep
