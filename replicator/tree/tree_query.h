// Queries for parts of a tree.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "replicator/tree/tree_path.h"

namespace lockstep::tree_query {

/// The document of the file or directory itself. REQUIRES: not the root.
nlohmann::json at(const TreePath& path);

/// What lies below a directory at any depth. Where the mapping has `path.tree`, this also finds documents
/// whose path is too long for a term of `path`.
nlohmann::json below(const TreePath& path);

/// at() or below(). REQUIRES: not the root.
nlohmann::json at_or_below(const TreePath& path);

/// What is in a directory itself.
nlohmann::json in(const TreePath& directory);

nlohmann::json any_of(std::vector<nlohmann::json> queries);

/// What `query` finds, without documents that have a greater fence.
nlohmann::json up_to_fence(const nlohmann::json& query, std::int64_t fence);

}  // namespace lockstep::tree_query
