// Document ids in SQL: those that changes lead to, and those that come from Elasticsearch. An _id found
// there may not even fit the view's _id type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/outbox/change.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// SQL that turns a text expression into a value which an index can compare with the view's _id; null if the
/// text is no value of the _id's type.
std::string castable_id(const PostgresIndex& index, std::string_view text);

/// The type of castable_id()'s value.
std::string_view castable_type(const PostgresIndex& index);

/// For each id, whether the view can have it: castable_id() would give a value. Asks the server only if that
/// depends on its encoding. REQUIRES: `transaction` is one, not single statements. Throws PostgresError.
std::vector<bool> can_be_ids(PostgresTransaction& transaction, const PostgresIndex& index,
                             const DocumentIds& ids);

/// `select k` over all ids that the changes lead to, nulls and duplicates among them; empty if they lead to
/// none.
std::string ids_query(const PostgresTransaction& transaction, const PostgresIndex& index,
                      const std::vector<CapturedChange>& changes);

/// The ids that the changes lead to, without duplicates; none if they are not found within `limits`. Throws
/// ViewError, Error.
std::optional<DocumentIds> find_ids(PostgresTransaction& transaction, const PostgresIndex& index,
                                    const std::vector<CapturedChange>& changes, const SearchLimits& limits);

/// Runs `read`, which reads the view of `index` or its tracks' queries, and returns its result. An error that
/// would come again leaves as a ViewError, a time-out of a lock or trouble of the statement as a ViewTooSlow.
template <typename Read>
auto reading_view(const PostgresIndex& index, const Read& read) {
  try {
    return read();
  } catch (const PostgresError& error) {
    if (error.sqlstate() == sqlstate::kLockNotAvailable || error.is_trouble_of_statement())
      throw ViewTooSlow(error.parts(), index.id);
    if (error.retryable()) throw;
    throw ViewError(error.parts(), index.id);
  }
}

}  // namespace lockstep
