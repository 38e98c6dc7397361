// What is wrong with a change of the tree, as a file system would say it.
#pragma once

#include <string>

#include "replicator/error.h"

namespace lockstep {

class TreeError : public Error {
 public:
  enum class Kind {
    kNotFound,      ///< no such file or directory
    kExists,        ///< something is there already: nothing is ever replaced by a move
    kIntoItself,    ///< a directory cannot be moved to a place below itself
    kIsDirectory,   ///< a file was wanted
    kNotDirectory,  ///< the path leads through a file
  };

  /// "<doing>: <path> does not exist"
  TreeError(Kind kind, const std::string& doing, const std::string& path);

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace lockstep
