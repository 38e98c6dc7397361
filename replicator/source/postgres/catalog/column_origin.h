// Where a view's columns come from, as far as its parsed query tells.
//
// A changed row of one table is to lead to the documents whose column has its value. Asking the view for them
// misses those that this very change has taken out of the view (an inner join, a filter). When _id and column
// come from one row of one table, that table can be asked instead: it knows at least the documents that the
// view would have named.
#pragma once

#include <optional>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Each row of the view whose _id and column are not null comes from a row of `table` in which `id_column`
/// has the _id, or what it is the text of, and `column` a value that is equal to the column's.
struct CommonOrigin {
  unsigned table = 0;
  int id_column = 0;
  int column = 0;
};

/// None: the query does not tell. `id` and `column` are numbers of the view's columns. REQUIRES: `view` is
/// one.
std::optional<CommonOrigin> common_origin(pqxx::transaction_base& transaction, unsigned view, int id,
                                          int column);

}  // namespace lockstep
