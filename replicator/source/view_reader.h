// The views of a configuration as the database has them, whether `apply` has seen them or not: for
// comparisons before anything is changed.
#pragma once

#include <memory>
#include <vector>

#include "replicator/source/applied.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// One connection, for one thread. Its parts live as long as it does.
class ViewReader {
 public:
  virtual ~ViewReader() = default;

  /// The indices of the configuration, in its order. Their ids have a meaning for read() alone, and their
  /// changes are not captured.
  virtual const std::vector<AppliedIndex>& indices() const = 0;

  /// Opens a snapshot of the views. Its position() means nothing.
  virtual std::unique_ptr<SourceSnapshot> read() = 0;
};

}  // namespace lockstep
