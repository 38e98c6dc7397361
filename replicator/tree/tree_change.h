// What a change of the tree does to a document, twice: as an item of a bulk request, and as a task of the
// server. Both change a document only while it is what was read, only where its fence is not greater than the
// operation's token, and only once: what has been done is not found again.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/locks/operation.h"
#include "replicator/tree/tree_documents.h"

namespace lockstep {

class TreeChange {
 public:
  /// The change that a journal entry of kind "mv" or "rm" describes.
  explicit TreeChange(const OperationIntent& intent);

  const TreePath& from() const { return from_; }

  /// What finds the documents that are still to be changed.
  nlohmann::json query() const;

  /// Adds the change of a document. REQUIRES: document.is_at_or_below(from()).
  void add_to(BulkCall& bulk, const TreeDocument& document, FencingToken token) const;

  struct Task {
    std::string endpoint;
    nlohmann::json body;
  };
  /// A task that changes them all.
  Task task(FencingToken token) const;

 private:
  TreePath from_;
  std::optional<TreePath> to_;  ///< none: they are removed
};

/// Where a document is after a move. REQUIRES: document.is_at_or_below(from).
struct TreePlace {
  std::string path;
  std::string name;
};
TreePlace moved(const TreeDocument& document, const TreePath& from, const TreePath& to);

/// The condition that a document is still what was read, and its routing, for the action line of a bulk item.
nlohmann::json bulk_condition(const TreeDocument& document);

}  // namespace lockstep
