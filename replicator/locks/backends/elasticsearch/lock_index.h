// An index of locks, or of their journal: with one shard, for one sequence of numbers, and with a mapping
// that marks it as made by Lockstep.
//
// It may be deleted while it is used. The next write then makes it again: as it was if the template is there,
// else without the mapping, and searches in it fail. Such an index is made again. Its contents distinguish it
// from another program's: it is empty, or has nothing but Lockstep's documents.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// {"settings": …, "mappings": …}. Both indices have the same fields, so that one template serves them.
nlohmann::json lock_index_body();

enum class LockIndex {
  kMissing,
  kOurs,
  kUnmapped,  ///< it was deleted, and a write has made it again without its mapping
};

/// Throws Error for another program's index, naming the evidence.
LockIndex look_at_lock_index(ElasticsearchClient& client, const std::string& index);

/// Whether the index is there with its mapping. Reads no document, and does not throw for another program's
/// index.
bool has_lock_mapping(ElasticsearchClient& client, const std::string& index);

/// Makes the index if it is missing or has lost its mapping. In the second case it first waits, for up to
/// somewhat more than a lease, until it has no living holder: a holder notices at its next renewal that it
/// has lost its lock. Other processes may do the same at once. Throws Error for another program's index, one
/// that is read-only or has several shards, and a retryable one if a holder in an unmapped one lives on.
void require_lock_index(ElasticsearchClient& client, const std::string& index,
                        std::chrono::milliseconds lease);

}  // namespace lockstep
