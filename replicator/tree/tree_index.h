// The index of a tree: created, when it is missing, with the example's mapping (config/fs.json) and the field
// `fence`; otherwise extended by the fields that the tree needs.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Whether an index or an alias has this name.
bool tree_index_exists(ElasticsearchClient& client, const std::string& index);

/// Creates `index`, or adds those of the fields `fence`, `kind` and `contents` that its mapping lacks.
/// Idempotent, and safe beside others who do the same. Throws Error, before it changes anything, for an index
/// that it cannot use: several indices or a filter behind an alias, an index that a pipeline writes, and a
/// mapping that cannot tell paths apart, does not find them all, or does not keep whole documents.
void prepare_tree_index(ElasticsearchClient& client, const std::string& index);

}  // namespace lockstep
