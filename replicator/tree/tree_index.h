// The index of a tree: created, when it is missing, with the example's mapping (config/fs.json) and the field
// `fence`; otherwise extended by the fields that the tree needs.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Whether an index or an alias has this name.
bool tree_index_exists(ElasticsearchClient& client, const std::string& index);

/// Throws Error for an index that cannot show a tree as it is: several indices or a filter behind an alias,
/// or a mapping that cannot tell paths apart, does not find them all or what is staged, or does not keep
/// whole documents. `found`: what client.indices_of(index) gives. For those who read the tree, and for those
/// who change it.
void require_tree_mapping(const std::string& index, const std::vector<IndexState>& found);

/// Creates `index`, or adds those of the fields `fence`, `kind` and `contents` that its mapping lacks.
/// Idempotent, and safe beside others who do the same. Throws Error, before it changes anything, as
/// require_tree_mapping() does, and for an index of locks, one that a pipeline writes, and one whose
/// documents need a routing.
void prepare_tree_index(ElasticsearchClient& client, const std::string& index);

}  // namespace lockstep
