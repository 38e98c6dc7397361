// A source that a restore, or a right configuration, may bring.
#pragma once

#include "replicator/error.h"

namespace lockstep {

/// The source is not there, or not as `apply` has left it: the configuration is wrong, or a backup is being
/// restored. A process that has seen the source waits for it; elsewhere it is a UsageError.
class SourceAbsent : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace lockstep
