// What is to be put into a file, brought to the server before the commit: a document without a path, whose id
// is the operation's. From the commit on anybody can finish the operation with it.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/tree/tree_documents.h"

namespace lockstep {

class StagedContents {
 public:
  /// The others must outlive this.
  StagedContents(ElasticsearchClient& client, TreeDocuments& documents)
      : client_(client), documents_(documents) {}

  TreeDocument stage(const Operation& operation, const std::string& contents);

  /// Removes what an operation has staged, unless it has become a file meanwhile.
  void remove(const std::string& operation);

  /// Removes what operations have staged that are over.
  void sweep(LockManager& locks);

 private:
  ElasticsearchClient& client_;
  TreeDocuments& documents_;
};

}  // namespace lockstep
