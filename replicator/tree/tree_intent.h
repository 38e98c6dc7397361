// An intended change of a tree. Here its paths become the journal's text, and the journal's text becomes
// paths; everywhere else in this folder a path is a TreePath.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replicator/locks/operation.h"
#include "replicator/tree/tree_path.h"

namespace lockstep {

struct TreeIntent {
  enum class Kind : std::uint8_t { kMove, kRemove, kPut, kMakeDirectory, kCopy };

  Kind kind = Kind::kMove;
  TreePath path;                    ///< of the file or directory to move, remove, write, make or copy
  std::optional<TreePath> to = {};  ///< the new path of a move or a copy; none for other kinds

  /// Whether it makes a document, which it stages before the commit (tree_writes.h, F2).
  bool creates() const { return kind != Kind::kMove && kind != Kind::kRemove; }
  /// The place of its file or directory afterwards. REQUIRES: no removal.
  const TreePath& target() const { return to ? *to : path; }
  bool operator==(const TreeIntent&) const = default;
};

/// "moving /a to /b"
std::string doing_of(const TreeIntent& intent);

/// As the journal has it. `index` is the tree's.
OperationIntent journal_intent(const TreeIntent& intent, const std::string& index);

/// Reads it from the journal entry of an operation on a tree. Throws Error, which names the operation, for a
/// kind that this Lockstep does not know and for texts that are not paths.
TreeIntent tree_intent(const Operation& operation);

}  // namespace lockstep
