// The index of a tree: made with the mapping of the example (config/fs.json) and the field `fence` when it is
// missing, extended by what the tree needs when it is there.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Whether there is an index (or an alias of one) of this name.
bool tree_index_exists(ElasticsearchClient& client, const std::string& index);

/// Creates `index`, or adds the fields `fence`, `kind` and `contents` to its mapping as far as they are
/// missing. Idempotent, and safe beside others who do the same. Throws Error for an index that cannot be
/// used: several indices behind an alias, `path` or `name` that are no keywords, or an index that a pipeline
/// writes.
void prepare_tree_index(ElasticsearchClient& client, const std::string& index);

}  // namespace lockstep
