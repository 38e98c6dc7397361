// Why a change of the tree did not happen, or did not end, as the caller must distinguish.
#pragma once

#include <string>

#include "replicator/error.h"
#include "replicator/tree/tree_path.h"

namespace lockstep {

/// A change that a file system would refuse.
class TreeError : public Error {
 public:
  enum class Kind {
    kNotFound,      ///< no such file or directory
    kExists,        ///< the new path is taken: a move never replaces anything
    kIntoItself,    ///< a directory cannot move to a path below itself
    kIsDirectory,   ///< the path of a file was wanted
    kNotDirectory,  ///< the path leads through a file
  };

  /// "<doing>: <path> does not exist"
  TreeError(Kind kind, const std::string& doing, const TreePath& path);

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Another process aborted or adopted the operation while its owner worked on it.
class TreeOperationLost : public Error {
 public:
  enum class When {
    kBeforeCommit,  ///< nothing was changed
    kAfterCommit,   ///< its adopter finishes it
    kOver,          ///< its adopter has finished it; or the journal has lost it, and it stays unfinished
  };

  TreeOperationLost(When when, const std::string& doing, const std::string& cause);
};

}  // namespace lockstep
