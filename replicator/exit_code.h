// The meaning of the program's exit codes: one table, the same for every command.
#pragma once

namespace lockstep {

enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,      ///< a step failed that should have worked
  kUsage = 2,       ///< wrong usage or configuration
  kDifference = 3,  ///< `verify` or `plan --exit-code` found a difference
  kLockNotHad = 4,  ///< another process held the lock for too long
};

}  // namespace lockstep
