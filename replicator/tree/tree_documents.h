// Reads the documents of a tree: their places, not their contents.
//
// A document has `name` and `path` (its directory), and perhaps `kind`: "directory" for a directory that has
// a document of its own; any other kind, or none, is a file. A directory exists if it has a document or if
// anything is below it. `fence` is the token of the operation that last wrote the document under a lock; a
// missing one counts as 0.
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

/// The kind of the contents of a put before its commit: this, followed by the id of the operation, which is
/// also the document's. Such a document has no path yet. Only Lockstep writes it, so nothing else is removed
/// as left behind.
inline constexpr const char* kStagedKind = "lockstep-staged:";
/// No such kind is longer.
inline constexpr std::size_t kMaxStagedKindBytes = 128;

struct TreeDocument {
  std::string id;
  std::string routing = {};  ///< empty: none
  std::string path = {};     ///< the directory
  std::string name = {};
  std::string kind = {};
  FencingToken fence = 0;
  std::int64_t sequence_number = 0;  ///< with the primary term: the version that was read
  std::int64_t primary_term = 0;

  bool is_directory() const { return kind == kDirectoryKind; }
  bool is_staged() const { return kind == kStagedKind + id && path.empty() && name.empty(); }
  /// Whether it is the document of this file or directory itself. REQUIRES: not the root.
  bool is_at(const TreePath& path) const;
  /// Whether it is that document, or lies below it. REQUIRES: not the root.
  bool is_at_or_below(const TreePath& path) const;
};

/// The documents at a path.
struct TreeNode {
  std::vector<TreeDocument> documents;  ///< its own; several only after writes without locks
  std::int64_t below = 0;               ///< number of documents below it, at any depth

  bool exists() const { return !documents.empty() || below > 0; }
  bool is_directory() const;
  std::int64_t size() const { return static_cast<std::int64_t>(documents.size()) + below; }
};

/// Each function sees the documents that were searchable at the last refresh, unless noted otherwise, and
/// throws Error as the client does.
class TreeDocuments {
 public:
  /// `client` must outlive this.
  TreeDocuments(ElasticsearchClient& client, std::string index);

  const std::string& index() const { return index_; }

  /// Makes everything that was written searchable.
  void refresh();

  /// The documents at each of the paths, in one request. REQUIRES: not the root.
  std::vector<TreeNode> look_up(std::span<const TreePath> paths);

  /// The first of the paths at which there is a file.
  std::optional<TreePath> first_file(const std::vector<TreePath>& paths);

  /// The whole _source of the file at a path. Throws TreeError if there is none.
  nlohmann::json source_at(const std::string& doing, const TreePath& path);

  std::int64_t count(const nlohmann::json& query);

  /// Up to `limit` documents; `limit` at most 10,000.
  std::vector<TreeDocument> find(const nlohmann::json& query, std::size_t limit);

  /// Every document that was searchable when it began, page by page, in no particular order.
  void scan(const nlohmann::json& query, std::size_t page,
            const std::function<void(std::span<const TreeDocument>)>& sink);

  /// A document as it is now, refreshed or not, with its contents if it has any.
  struct Whole {
    TreeDocument document;
    std::optional<std::string> contents;
  };
  std::optional<Whole> get(const std::string& id);

 private:
  std::int64_t count_below(const TreePath& path);

  ElasticsearchClient& client_;
  const std::string index_;
};

/// Reads a document from a hit or from the reply to a GET. path, name, kind and fence may be missing. Throws
/// Error for one of another type, naming document and field, for a path without a name, for a fence that is
/// no token, and if the index keeps no _source.
TreeDocument read_tree_document(const nlohmann::json& hit);

/// Its id, routing and version alone, which the reply to a write has too.
TreeDocument read_tree_version(const nlohmann::json& reply);

/// The body of a search whose hits read_tree_document() can read.
nlohmann::json tree_search_body(const nlohmann::json& query, std::size_t size);

/// The hits in a search's reply. Throws Error: a retryable one if not all shards have answered.
nlohmann::json tree_hits(const std::string& doing, const nlohmann::json& reply);

}  // namespace lockstep
