// The data writes of one operation, for its owner and for whoever adopts it. They can be done again from the
// beginning at any time: what has been done is not found again.
//
// Invariant T1: a document is written only under the sequence number with which it was read, and only if the
//   fence that was read with it is not greater than the token; it then carries the token. So a write that was
//   on its way when its sender was deposed finds another sequence number, and one that is based on a fresh
//   reading a greater fence.
// Invariant T2: a document gets a path for the first time by such a write too: it is created without one
// before
//   the commit (staged). A late creation could land where somebody has removed the document meanwhile.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/locks/operation.h"
#include "replicator/tree/tree_change.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_lease.h"

namespace lockstep {

/// What of an operation its writes need.
struct TreeScope {
  explicit TreeScope(const Operation& operation);

  std::string id;  ///< also of the document in which a put stages its contents
  OperationIntent intent;
  /// Under document locks the ids that are locked: documents that come later are none of its business. None:
  /// everything at the path and below.
  std::optional<std::unordered_set<std::string>> locked;
};

class TreeWrites {
 public:
  /// The others must outlive this. `progressed` hears of each number of documents that are done.
  TreeWrites(ElasticsearchClient& client, TreeDocuments& documents, Painless painless, TreeLease& lease,
             const TreeScope& scope, std::function<void(std::int64_t)> progressed);

  /// Moves or removes; `known` are all documents concerned, if they are few and were read under the locks.
  /// Throws LeaseLost, and Error.
  void change(std::span<const TreeDocument> known);

  /// What put() needs to know, read under the locks; an adopter reads it itself.
  struct Put {
    TreeDocument staged;
    std::string contents;
    std::vector<TreeDocument> there;  ///< documents at the path
  };
  /// Gives the file its contents. Throws LeaseLost, and Error.
  void put(std::optional<Put> known);

 private:
  /// Changes those documents of a page that are concerned. Returns how many were not what was read any more:
  /// somebody without a lock has written them, or this request was sent before and its answer lost.
  std::int64_t change_page(const TreeChange& change, std::span<const TreeDocument> page);
  /// The same for all that are left.
  std::int64_t change_by_client(const TreeChange& change);
  /// Returns how many were changed.
  std::int64_t change_in_server(const TreeChange& change);
  bool concerned(const TreeChange& change, const TreeDocument& document) const;
  std::optional<Put> read_put();
  bool try_put(const Put& put);
  void require_fence(const TreeDocument& document);

  ElasticsearchClient& client_;
  TreeDocuments& documents_;
  const Painless painless_;
  TreeLease& lease_;
  const TreeScope& scope_;
  const std::function<void(std::int64_t)> progressed_;
};

}  // namespace lockstep
