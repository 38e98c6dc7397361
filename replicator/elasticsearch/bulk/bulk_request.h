// The body of a _bulk request while it is being filled: newline-delimited JSON, with the documents byte by
// byte as the source rendered them.
//
// B1. A bulk names a document at most once, except for deletes of the same id under other routings.
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

/// Appends the start of an action line that says where an item goes:
/// `{"index":{"_index":…,"_id":…,"routing":…`.
void append_action(std::string& body, BulkAction action, std::string_view alias, const DocumentKey& key);

class BulkRequest {
 public:
  /// Appends an item that indexes a document. `json` is one JSON object; raw line feeds in it (they can only
  /// be white space between tokens) become spaces. `alias` goes into the action line. REQUIRES: 0 <
  /// key.id.text.size() <= kMaxIdBytes.
  void index(std::string_view alias, DocumentKey key, DocumentVersion version, std::string_view json);

  /// Appends an item that deletes a document. The same is required.
  void remove(std::string_view alias, DocumentKey key, DocumentVersion version);

  const std::string& body() const { return body_; }
  const std::vector<BulkItem>& items() const { return items_; }
  std::size_t bytes() const { return body_.size(); }
  bool empty() const { return items_.empty(); }

  /// Lines of guards() items to send behind body(): for each alias from which this request only deletes, an
  /// index item that always fails (404 without the alias, else 409). Without it, for a delete with an
  /// external version, Elasticsearch creates an index of the alias's name, require_alias or not, and reports
  /// the delete as done.
  std::string guard_lines() const;
  std::size_t guards() const;

  /// The alias that an item is written through.
  const std::string& alias_of(std::size_t item) const { return aliases_[alias_of_[item]].name; }

  /// The lines of one item.
  std::string_view lines(std::size_t item) const;

  /// A request of only these items, in the given order.
  BulkRequest subset(const std::vector<std::size_t>& items) const;

  /// Takes these items (ascending) out of this request, and returns them as one of their own. What is left is
  /// not copied.
  BulkRequest split_off(const std::vector<std::size_t>& items);

 private:
  struct Alias {
    explicit Alias(std::string_view its_name);

    std::string name;
    std::string index_begin;    ///< of the action lines that index into it
    std::string delete_begin;   ///< of those that delete from it
    bool indexed_into = false;  ///< by an item of this request
  };

  std::uint32_t alias_number(std::string_view name, BulkAction action);
  void append_action_line(const std::string& begin, const DocumentKey& key, DocumentVersion version);

  std::string body_;
  std::vector<BulkItem> items_;
  std::vector<Alias> aliases_;           ///< few; looked through one by one
  std::vector<std::uint32_t> alias_of_;  ///< of each item, its number in aliases_
};

}  // namespace lockstep
