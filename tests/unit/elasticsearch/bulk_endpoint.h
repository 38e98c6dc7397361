// An in-memory _bulk endpoint with external versions, to stand behind a fake transport or a scripted HTTP
// server: it keeps the documents, so that a test can end by asking what is in the index.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace lockstep {

class BulkEndpoint {
 public:
  struct Document {
    std::int64_t version = 0;
    std::string json;  ///< empty: deleted
    int writes = 0;    ///< how often a write of it was let through
    bool operator==(const Document&) const = default;
  };

  /// An item's fault: 0 for none, else the status with which the item is refused, unapplied.
  using ItemFault = std::function<int(const std::string& id)>;

  /// Applies the body's items and returns the reply's JSON. Thread-safe. Throws std::runtime_error for a body
  /// that is not a bulk.
  std::string apply(std::string_view body, const ItemFault& fault = {});

  /// By id; what has been deleted stays as a document without JSON.
  std::map<std::string, Document> documents() const;

  /// How many items have been seen.
  std::size_t items_seen() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Document> documents_;
  std::size_t items_seen_ = 0;
};

/// The number of items in a body, action lines counted.
std::size_t count_items(std::string_view body);

}  // namespace lockstep
