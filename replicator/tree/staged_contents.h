// The contents of a put, a copy or a new directory, sent to the server before the commit: a document without
// a path, under the operation's id. From the commit on any process can finish the operation with it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_intent.h"

namespace lockstep {

class StagedContents {
 public:
  /// The others must outlive this.
  StagedContents(ElasticsearchClient& client, TreeDocuments& documents)
      : client_(client), documents_(documents) {}

  /// `fields`: those of the document that is to be, but for its place, kind and fence.
  TreeDocument stage(const Operation& operation, const TreeIntent& intent, nlohmann::json fields);

  /// Removes an operation's staged documents, except those that have become files.
  void remove(const std::string& operation);

  /// Removes the staged documents of resolved operations.
  void clear_up(LockManager& locks);

 private:
  ElasticsearchClient& client_;
  TreeDocuments& documents_;
};

}  // namespace lockstep
