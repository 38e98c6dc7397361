#include "replicator/tree/tree_error.h"

namespace lockstep {
namespace {

Error::Parts parts_of(TreeError::Kind kind, const std::string& doing, const TreePath& where) {
  const std::string& path = where.text();
  switch (kind) {
    case TreeError::Kind::kNotFound:
      return {doing, path + " does not exist", "`lockstep tree ls` shows what is there"};
    case TreeError::Kind::kExists:
      return {doing, path + " exists", "choose another name, or remove it first"};
    case TreeError::Kind::kIntoItself:
      return {doing, path + " lies in the directory itself", "choose a path outside of it"};
    case TreeError::Kind::kIsDirectory:
      return {doing, path + " is a directory", "name a file"};
    case TreeError::Kind::kNotDirectory:
      return {doing, path + " is a file, not a directory", "choose another directory"};
  }
  return {doing, path};
}

}  // namespace

TreeError::TreeError(Kind kind, const std::string& doing, const TreePath& path)
    : Error(parts_of(kind, doing, path)), kind_(kind) {}

TreeOperationLost::TreeOperationLost(When when, const std::string& doing, const std::string& cause)
    : Error({doing, cause,
             when == When::kBeforeCommit
                 ? "nothing was changed; try again"
                 : "whoever took it over finishes it; `lockstep locks list` shows by whom"}) {}

}  // namespace lockstep
