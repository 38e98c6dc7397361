// Ids of documents: those that changes lead to, and those that come from Elasticsearch, which may be no value
// that the view's _id can have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/change.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Whether the view can have a document of this id.
bool can_be_id(const SqliteIndex& index, const std::string& id);

/// The ids as values that can be compared with the view's _id, for kExactValues. Leaves out those that cannot
/// be.
std::string comparable_ids(const SqliteIndex& index, const DocumentIds& ids);

/// Gives `sink` each id that the changes lead to, some of them several times, until it returns false.
/// REQUIRES: a snapshot is open. Throws ViewError for changes that lead to documents in no way, and Error.
void for_each_id(SqliteConnection& connection, const SqlitePipeline& pipeline, const SqliteIndex& index,
                 const std::vector<CapturedChange>& changes, const std::function<bool(std::string id)>& sink);

/// The ids that the changes lead to, without duplicates; none if they are not found within `limits`.
/// REQUIRES: a snapshot is open. Throws ViewError, Error.
std::optional<DocumentIds> find_ids(SqliteConnection& connection, const SqlitePipeline& pipeline,
                                    const SqliteIndex& index, const std::vector<CapturedChange>& changes,
                                    const SearchLimits& limits);

/// Runs `read`, which reads the view of `index` or its tracks' queries, and returns its result. An error that
/// would come again leaves as a ViewError.
template <typename Read>
auto reading_view(const SqliteIndex& index, const Read& read) {
  try {
    return read();
  } catch (const SqliteError& error) {
    if (error.retryable() || error.is_damage()) throw;
    throw ViewError(error.parts(), index.id);
  }
}

}  // namespace lockstep
