#include "replicator/tree/tree_error.h"

namespace lockstep {
namespace {

Error::Parts parts_of(TreeError::Kind kind, const std::string& doing, const TreePath& where) {
  const std::string& path = where.text();
  switch (kind) {
    case TreeError::Kind::kNotFound:
      return {doing, path + " does not exist", "`lockstep tree ls` lists the tree"};
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

std::string remedy_of(TreeOperationLost::When when) {
  switch (when) {
    case TreeOperationLost::When::kBeforeCommit:
      return "nothing was changed; try again";
    case TreeOperationLost::When::kAfterCommit:
      return "the process that took it over finishes it, or else `lockstep tree recover`; `lockstep locks "
             "list` shows "
             "unfinished changes";
    case TreeOperationLost::When::kOver:
      break;
  }
  return "look at both places with `lockstep tree ls`: unless it was finished by hand, it stays half done";
}

}  // namespace

TreeError::TreeError(Kind kind, const std::string& doing, const TreePath& path)
    : Error(parts_of(kind, doing, path)), kind_(kind) {}

TreeOperationLost::TreeOperationLost(When when, const std::string& doing, const std::string& cause)
    : Error({doing, cause, remedy_of(when)}) {}

}  // namespace lockstep
