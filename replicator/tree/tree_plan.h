// Before the commit: which locks a change needs, and, once it has them, whether the tree allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/locks/lock_name.h"
#include "replicator/locks/operation.h"
#include "replicator/tree/tree_documents.h"

namespace lockstep {

/// What a change is going to do.
struct TreePlan {
  std::vector<TreeDocument> known = {};  ///< all documents concerned; empty: they are many, or there are none
  std::int64_t total = 0;
};

class TreePlanner {
 public:
  /// `documents` must outlive this.
  TreePlanner(TreeDocuments& documents, TreeConfig::Locking locking)
      : documents_(documents), locking_(locking) {}

  /// By the scheme:
  ///   tree      source and target exclusively, what is above them shared
  ///   global    the one lock
  ///   document  the ids of all documents concerned, the paths of source and target, and for each document
  ///             that moves the path to which it goes, so that nobody else puts anything there
  /// Under document locking it reads the tree, and throws as plan() does.
  LockSet locks_for(const OperationIntent& intent);

  /// Reads the tree and throws TreeError when it does not allow the change. REQUIRES: the locks are held.
  TreePlan plan(const OperationIntent& intent);

  /// Whether the locks are those that the plan needs: under document locking others may have changed the tree
  /// before it was locked.
  bool covers(const Operation& operation, const TreePlan& plan) const;

 private:
  TreePlan plan_move(const std::string& doing, const TreePath& from, const TreePath& to);
  TreePlan plan_removal(const std::string& doing, const TreePath& path);
  TreePlan plan_put(const std::string& doing, const TreePath& path);
  TreePlan everything_at(const TreePath& path, TreeNode node);

  TreeDocuments& documents_;
  const TreeConfig::Locking locking_;
};

/// "moving /a to /b"
std::string doing_of(const OperationIntent& intent);

}  // namespace lockstep
