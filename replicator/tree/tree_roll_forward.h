// Finishes operations on a tree whose owners died after their commit.
#pragma once

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/locks/roll_forward.h"
#include "replicator/tree/tree_documents.h"

namespace lockstep {

class TreeRollForward final : public RollForward {
 public:
  /// The others must outlive this. Knows the operations on the index of `documents`.
  TreeRollForward(ElasticsearchClient& client, TreeDocuments& documents, Painless painless)
      : client_(client), documents_(documents), painless_(painless) {}

  bool knows(const Operation& operation) const override;

  /// Ends a server task that the dead owner may have left, then does the rest under the adopter's token.
  /// Throws LeaseLost, and Error.
  void roll_forward(LockManager& locks, Operation& operation) override;

 private:
  ElasticsearchClient& client_;
  TreeDocuments& documents_;
  const Painless painless_;
};

}  // namespace lockstep
