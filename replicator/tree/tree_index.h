// The index of a tree: created, when it is missing, with the example's mapping (config/fs.json) and the field
// `fence`; otherwise extended by the fields that the tree needs.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Whether an index or an alias has this name.
bool tree_index_exists(ElasticsearchClient& client, const std::string& index);

/// As tree_index_exists(). Throws Error for an index that cannot show a tree as it is, since searches in it
/// would pass over documents or find others: several indices or a filter behind an alias, or a mapping that
/// cannot distinguish paths, does not find them all or the staged documents, requires a routing, or does not
/// keep whole documents. But not for one that a pipeline writes or that is read-only.
bool tree_can_be_read(ElasticsearchClient& client, const std::string& index);

/// Throws Error if a block keeps writes out of the index. Does nothing if there is none of this name.
void require_writable_tree(ElasticsearchClient& client, const std::string& index);

/// Creates `index`, or adds those of the fields `fence`, `kind` and `contents` that its mapping lacks.
/// Idempotent, and safe while other processes do the same. Throws Error, before it changes anything, as
/// tree_can_be_read() does, and for an index of locks, one that a pipeline writes, one that is read-only, and
/// one whose final pipeline may change documents.
void prepare_tree_index(ElasticsearchClient& client, const std::string& index);

}  // namespace lockstep
