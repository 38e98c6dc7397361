// Finishes operations of the tree whose owners have died after their commit.
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

  bool knows(const OperationIntent& intent) const override;

  /// Ends what the dead owner may have left running in the server, then does the rest under the adopter's
  /// token. Throws LeaseLost, and Error.
  void roll_forward(LockManager& locks, Operation& operation) override;

 private:
  ElasticsearchClient& client_;
  TreeDocuments& documents_;
  const Painless painless_;
};

}  // namespace lockstep
