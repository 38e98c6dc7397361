// Moving a directory as one writes it at first: read the documents, write them back changed. It has a journal
// entry, for the checker, and what the world leaves it of the locks.
#pragma once

#include <memory>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"
#include "replicator/tree/tree_documents.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Declares the work of the dead done, and does nothing for it.
class DeclareDone final : public RollForward {
 public:
  bool knows(const Operation& /*operation*/) const override { return true; }
  void roll_forward(LockManager& /*locks*/, Operation& /*operation*/) override {}
};

class NaiveTree {
 public:
  /// `locks` must outlive this.
  NaiveTree(LockManager& locks, std::unique_ptr<HttpTransport> transport, std::string index, Without without);

  void prepare() { locks_.prepare(); }

  /// Nothing happens when there is nothing to move, its place is taken, or the locks are not to be had.
  void move(const TreePath& from, const TreePath& to);

 private:
  bool take(Operation& operation);
  bool exists(const TreePath& path);
  void write(const TreePath& from, const TreePath& to);

  LockManager& locks_;
  ElasticsearchClient client_;
  TreeDocuments documents_;
  const Without without_;
  DeclareDone declare_done_;
};

}  // namespace lockstep::harness
