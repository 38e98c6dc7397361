// The body of a _bulk request while it is being filled: newline-delimited JSON, with the documents byte by
// byte as the source rendered them.
//
// B1. A bulk is of one index, so that none waits for another one, and names a document at most once, except
// for deletes of the same id under other routings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/document_limits.h"
#include "replicator/document_version.h"
#include "replicator/ids.h"

namespace lockstep {

/// Which document an item is about. `routing` is empty for none.
struct DocumentKey {
  IndexId index;
  DocumentId id;
  std::string routing;
  bool operator==(const DocumentKey&) const = default;
};

enum class BulkAction : std::uint8_t { kIndex, kDelete };

struct BulkItem {
  BulkAction action = BulkAction::kIndex;
  DocumentKey key;
  DocumentVersion version;
  std::size_t begin = 0;  ///< where its lines begin in the body; they end where the next item's begin
};

/// Appends the start of an action line with the item's place: `{"index":{"_index":…,"_id":…,"routing":…`.
void append_action(std::string& body, BulkAction action, std::string_view alias, const DocumentKey& key);

class BulkRequest {
 public:
  /// Appends an item that indexes a document. `json` is one JSON object; raw line feeds in it (they can only
  /// be white space between tokens) become spaces. `alias` goes into the action line. REQUIRES: 0 <
  /// key.id.text.size() <= kMaxIdBytes; index and alias are those of the other items (B1).
  void index(std::string_view alias, DocumentKey key, DocumentVersion version, std::string_view json);

  /// Appends an item that deletes a document. The same is required.
  void remove(std::string_view alias, DocumentKey key, DocumentVersion version);

  const std::string& body() const { return body_; }
  const std::vector<BulkItem>& items() const { return items_; }
  std::size_t bytes() const { return body_.size(); }
  bool empty() const { return items_.empty(); }

  /// The one of all items. REQUIRES: !empty().
  IndexId index() const { return items_.front().key.index; }

  /// Through which all items are written.
  const std::string& alias() const { return alias_; }

  /// Whether guard_lines() have to go behind body(): it only deletes.
  bool needs_guard() const;

  /// An index item that always fails (404 without the alias, else 409). Without it, for a delete with an
  /// external version, Elasticsearch creates an index of the alias's name, require_alias or not, and reports
  /// the delete as done.
  std::string guard_lines() const;

  /// The lines of one item.
  std::string_view lines(std::size_t item) const;

  /// A request of only these items, in the given order.
  BulkRequest subset(const std::vector<std::size_t>& items) const;

  /// Takes these items (ascending) out of this request, and returns them as one of their own. The rest is not
  /// copied.
  BulkRequest split_off(const std::vector<std::size_t>& items);

 private:
  void begin_item(std::string_view alias, const DocumentKey& key);
  void append_action_line(const std::string& begin, const DocumentKey& key, DocumentVersion version);

  std::string body_;
  std::vector<BulkItem> items_;
  std::string alias_;
  std::string index_begin_;   // of the action lines that index
  std::string delete_begin_;  // of those that delete
};

}  // namespace lockstep
