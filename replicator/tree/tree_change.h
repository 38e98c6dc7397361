// A move's or a removal's effect on a document, in two forms: as an item of a bulk request, and as a task of
// the server. Both change a document only in the version that was read, only if its fence is below the
// operation's token, and only once: the query no longer finds finished documents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/locks/operation.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_intent.h"

namespace lockstep {

class TreeChange {
 public:
  /// REQUIRES: no put.
  explicit TreeChange(TreeIntent intent) : intent_(std::move(intent)) {}

  const TreePath& from() const { return intent_.path; }

  /// Finds the documents that are still to be changed.
  nlohmann::json query() const;

  /// Adds the change of a document. REQUIRES: document.is_at_or_below(from()).
  void add_to(BulkCall& bulk, const TreeDocument& document, FencingToken token) const;

  /// The body of an _update_by_query that changes all documents.
  nlohmann::json task(FencingToken token) const;

 private:
  TreeIntent intent_;
};

/// A document's place: its fields `path` and `name`.
struct TreePlace {
  std::string path;
  std::string name;
};
/// A document's place after a move. REQUIRES: document.is_at_or_below(from).
TreePlace moved(const TreeDocument& document, const TreePath& from, const TreePath& to);

/// For the action line of a bulk item: the version that was read as a condition, and the routing.
nlohmann::json bulk_condition(const TreeDocument& document);

}  // namespace lockstep
