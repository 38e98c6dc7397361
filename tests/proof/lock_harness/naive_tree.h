// Moves a directory as one writes it at first: reads the documents, and writes them back changed. It writes a
// journal entry, for the checker, and uses those safeguards of the locks that the world leaves it.
#pragma once

#include <memory>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/roll_forward.h"
#include "replicator/tree/tree_documents.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Declares the work of dead owners done without doing any of it.
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

  /// Does nothing when `from` does not exist, `to` exists, or the locks are refused.
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
