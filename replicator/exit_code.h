// What the program's exit codes mean: one table, the same for every verb.
#pragma once

namespace lockstep {

enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,      ///< something that should have worked did not
  kUsage = 2,       ///< wrong usage or configuration
  kDifference = 3,  ///< `verify` or `plan --exit-code` found a difference
  kLockNotHad = 4,  ///< a lock was not to be had in time
};

}  // namespace lockstep
