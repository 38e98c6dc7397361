// Reading the documents of a tree: where they are, not what is in them.
//
// A document has `name` and `path` (the directory), perhaps `kind`: "directory" for a directory that has a
// document of its own; any other, or none, is a file. A directory exists when it has a document or when
// something lies below it. `fence` is the token of the operation that last wrote the document under a lock;
// missing: 0.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/operation.h"
#include "replicator/tree/tree_path.h"

namespace lockstep {

inline constexpr const char* kDirectoryKind = "directory";
inline constexpr const char* kFileKind = "file";
/// What is going to be a file's contents, before its operation has committed: it has no path yet.
inline constexpr const char* kStagedKind = "staged";

struct TreeDocument {
  std::string id;
  std::string routing = {};  ///< empty: none
  std::string path = {};     ///< the directory
  std::string name = {};
  std::string kind = {};
  FencingToken fence = 0;
  std::int64_t sequence_number = 0;  ///< with the primary term what it was read as, for compare-and-set
  std::int64_t primary_term = 0;

  bool is_directory() const { return kind == kDirectoryKind; }
  /// Whether it is the file or directory itself, or lies below it.
  bool is_at_or_below(const TreePath& path) const;
};

/// What there is at a path.
struct TreeNode {
  std::vector<TreeDocument> documents;  ///< its own; more than one only where somebody writes without locks
  std::int64_t below = 0;               ///< documents below it, at any depth

  bool exists() const { return !documents.empty() || below > 0; }
  bool is_directory() const;
  std::int64_t size() const { return static_cast<std::int64_t>(documents.size()) + below; }
};

/// Each function sees what was searchable at the last refresh, unless it says otherwise. Throws Error as the
/// client does.
class TreeDocuments {
 public:
  /// `client` must outlive this.
  TreeDocuments(ElasticsearchClient& client, std::string index);

  const std::string& index() const { return index_; }

  /// Makes everything that has been written visible here.
  void refresh();

  /// What is at each of the paths, in one request. REQUIRES: not the root.
  std::vector<TreeNode> look_up(std::span<const TreePath> paths);

  /// The first of the paths at which there is a file.
  std::optional<TreePath> first_file(std::span<const TreePath> paths);

  std::int64_t count(const nlohmann::json& query);

  /// Up to `limit` documents; `limit` at most 10,000.
  std::vector<TreeDocument> find(const nlohmann::json& query, std::size_t limit);

  /// Every document that was searchable at the beginning, page by page, in no particular order.
  void scan(const nlohmann::json& query, std::size_t page,
            const std::function<void(std::span<const TreeDocument>)>& sink);

  /// A document as it is now, refreshed or not, with its contents if it has such.
  struct Whole {
    TreeDocument document;
    std::string contents;
  };
  std::optional<Whole> get(const std::string& id);

 private:
  ElasticsearchClient& client_;
  const std::string index_;
};

/// A document from a hit or from the answer to a GET.
TreeDocument read_tree_document(const nlohmann::json& hit);

/// What a search asks for so that read_tree_document() can read its hits.
nlohmann::json tree_search_body(const nlohmann::json& query, std::size_t size);

/// The hits of a search's reply. Throws Error, a retryable one, when not all shards have answered.
nlohmann::json tree_hits(const std::string& doing, const nlohmann::json& reply);

}  // namespace lockstep
