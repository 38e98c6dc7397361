// Queries for parts of a tree.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "replicator/tree/tree_path.h"

namespace lockstep::tree_query {

/// The document of the file or directory itself. REQUIRES: not the root.
nlohmann::json at(const TreePath& path);

/// Everything below a directory at any depth; for a path of more than kMaxPrefixBytes also its neighbours
/// under the same beginning.
nlohmann::json below(const TreePath& path);

/// Elasticsearch 7 refuses a longer prefix ("input automaton is too large").
inline constexpr std::size_t kMaxPrefixBytes = 900;

/// Whether below() and at_or_below() find nothing else.
bool is_exact(const TreePath& path);

/// The paths that begin with this text, or with its first kMaxPrefixBytes.
nlohmann::json beginning_with(std::string_view text);

/// at() or below(). REQUIRES: not the root.
nlohmann::json at_or_below(const TreePath& path);

/// The entries of a directory itself.
nlohmann::json in(const TreePath& directory);

nlohmann::json any_of(std::vector<nlohmann::json> queries);

/// The documents at these paths themselves, and perhaps others that have the directory of one and the name of
/// another. In two clauses, since engines take no more than some hundreds. REQUIRES: not the root.
nlohmann::json among(const std::vector<TreePath>& paths);

}  // namespace lockstep::tree_query
