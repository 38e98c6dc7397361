// Whether a view computes a document from rows of others: a rank, a running number, the ten best. SQLite does
// not tell which rows those are, and the text does not for certain, so it is only named.
#pragma once

#include <set>
#include <string>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// In words, such as "a window function". A limit counts where it is that of a whole view: one in brackets is
/// mostly of the rows of one document. Throws SqliteError.
std::set<std::string> clauses_that_compare_rows(SqliteConnection& connection,
                                                const std::set<std::string>& views);

}  // namespace lockstep
