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

std::string remedy_of(TreeOperationLost::When when) {
  switch (when) {
    case TreeOperationLost::When::kBeforeCommit:
      return "nothing was changed; try again";
    case TreeOperationLost::When::kAfterCommit:
      return "whoever took it over finishes it, or else `lockstep tree recover`; `lockstep locks list` shows "
             "what "
             "is unfinished";
    case TreeOperationLost::When::kOver:
      break;
  }
  return "look at both places with `lockstep tree ls`: unless somebody has finished it, it stays half done";
}

}  // namespace

TreeError::TreeError(Kind kind, const std::string& doing, const TreePath& path)
    : Error(parts_of(kind, doing, path)), kind_(kind) {}

TreeOperationLost::TreeOperationLost(When when, const std::string& doing, const std::string& cause)
    : Error({doing, cause, remedy_of(when)}) {}

}  // namespace lockstep
