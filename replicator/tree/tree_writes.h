// The data writes of one operation, for its owner and for its adopter. They may start again from the
// beginning at any time: searches no longer find finished documents.
//
// F1. A document is written only in the version that was read, and only if the fence in that version is below
// the token; afterwards its fence is the token. So if a sender is deposed while its write is on the way, the
// write meets another version; and a write after a fresh read meets a greater fence.
//
// A greater fence shows the owner that it was deposed, and then the journal shows it too. If the journal,
// asked after the read, still calls it the owner, no later owner can have written that fence: it comes from a
// script with numbers of its own, or from locks that were kept elsewhere. The owner takes a token above it
// then; but if that would use up the tokens (kMostExceeded) it replaces the fence by its own smaller one. An
// equal fence is treated alike: if the indices of locks are deleted, two may draw the same token, and must
// not both write. It may also be the owner's, of a write whose answer was lost; then a new token does no
// harm.
//
// F2. A document gets its first path by such a write too: it is created without a path, before the commit
// (staged). A late creation could land after the document was removed.
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
#include "replicator/tree/tree_intent.h"
#include "replicator/tree/tree_lease.h"

namespace lockstep {

/// The parts of an operation that its writes need.
struct TreeScope {
  TreeScope(const Operation& operation, TreeIntent its_intent);

  std::string id;  ///< also of the document in which a put stages its contents
  TreeIntent intent;
  /// Under document locks: the locked ids. The operation leaves documents alone that came later. None: it
  /// concerns everything at the path and below.
  std::optional<std::unordered_set<std::string>> locked;
};

class TreeWrites {
 public:
  /// The others must outlive this. Calls `progressed` with each number of documents that are done.
  TreeWrites(ElasticsearchClient& client, TreeDocuments& documents, Painless painless, TreeLease& lease,
             const TreeScope& scope, std::function<void(std::int64_t)> progressed);

  /// Moves or removes. `known`: all documents concerned, if they are few and were read under the locks; else
  /// empty. Throws LeaseLost, and Error.
  void change(std::span<const TreeDocument> known);

  /// The documents that put() needs, read under the locks.
  struct Put {
    TreeDocument staged;
    std::string contents;             ///< of a put
    std::vector<TreeDocument> there;  ///< files at the path, which get the contents of a put
  };
  /// Gives the file its contents, or the staged document its path. Without `known` it reads that itself, as
  /// an adopter must. Throws LeaseLost, and Error.
  void put(std::optional<Put> known);

 private:
  /// Changes the documents of a page that the operation concerns. Returns how many were no longer in the
  /// version that was read: another client wrote them without a lock, or an earlier request did and its
  /// answer was lost.
  std::int64_t change_page(const TreeChange& change, std::span<const TreeDocument> page);
  /// The same for all documents that are left.
  std::int64_t change_by_client(const TreeChange& change);
  /// Lets the server change all documents that are left. Returns how many it changed.
  std::int64_t change_in_server(const TreeChange& change);
  bool concerned(const TreeChange& change, const TreeDocument& document) const;
  std::optional<Put> read_put();
  bool try_put(const Put& put);
  /// Sees to it that these documents, which were just read, may be written with the token (F1).
  void overcome_fences(std::span<const TreeDocument> documents);

  ElasticsearchClient& client_;
  TreeDocuments& documents_;
  const Painless painless_;
  TreeLease& lease_;
  const TreeScope& scope_;
  const std::function<void(std::int64_t)> progressed_;
};

}  // namespace lockstep
