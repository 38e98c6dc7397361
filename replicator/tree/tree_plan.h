// Before the commit: which locks a change needs, and, once it holds them, whether the tree allows the change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/locks/lock_name.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_intent.h"

namespace lockstep {

/// The documents that a change concerns.
struct TreePlan {
  std::vector<TreeDocument> known = {};  ///< all of them; empty if there are too many, or none
  std::int64_t total = 0;
};

class TreePlanner {
 public:
  /// `documents` must outlive this.
  TreePlanner(TreeDocuments& documents, TreeConfig::Locking locking)
      : documents_(documents), locking_(locking) {}

  /// Depends on the scheme:
  ///   tree      source and target exclusively, their ancestors shared; the source of a copy shared, too
  ///   global    the one lock
  ///   document  the ids of all documents concerned, the paths of source and target, and for each document
  ///             that moves its new path, so that no other operation puts anything there
  /// Under document locking it reads the tree, and throws as plan() does.
  LockSet locks_for(const TreeIntent& intent);

  /// Reads the tree: every document that the change concerns. Throws TreeError if the tree does not allow the
  /// change, and Error for a document that it cannot change, naming it: before anything is written. Calls
  /// `still_reading` from time to time. REQUIRES: the locks are held.
  TreePlan plan(
      const TreeIntent& intent, const std::function<void()>& still_reading = [] {});

  /// Whether `locks` include those that the plan needs. Under document locking others may change the tree
  /// before locks_for() has locked it.
  bool covers(const LockSet& locks, const TreeIntent& intent, const TreePlan& plan) const;

 private:
  using Reading = std::function<void()>;
  TreePlan plan_move(const TreeIntent& intent, const Reading& still_reading);
  TreePlan plan_removal(const TreeIntent& intent, const Reading& still_reading);
  TreePlan plan_put(const std::string& doing, const TreePath& path);
  TreePlan plan_directory(const std::string& doing, const TreePath& path);
  TreePlan plan_copy(const std::string& doing, const TreePath& from, const TreePath& to);
  /// The documents that a move or a removal concerns.
  TreePlan everything_at(const TreeIntent& intent, TreeNode node, const Reading& still_reading);

  TreeDocuments& documents_;
  const TreeConfig::Locking locking_;
};

}  // namespace lockstep
