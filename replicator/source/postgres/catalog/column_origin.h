// Where a view's columns come from, as far as its parsed query shows it.
//
// A changed row must lead to the documents whose column has its value. The view no longer has the documents
// that this very change took out of it (an inner join, a filter). When _id and the column come from one row
// of one table, that table can be asked instead: it knows every document that the view would name, and
// perhaps more.
#pragma once

#include <optional>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// Each row of the view whose _id and column are not null comes from a row of `table`. There `id_column`
/// holds the _id, or the value of which the _id is the text, and `column` holds a value equal to the
/// column's.
struct CommonOrigin {
  unsigned table = 0;
  int id_column = 0;
  int column = 0;
};

/// None: the query does not show it. `id` and `column` are numbers of the view's columns. REQUIRES: `view` is
/// the oid of a view.
std::optional<CommonOrigin> common_origin(PostgresTransaction& transaction, unsigned view, int id,
                                          int column);

}  // namespace lockstep
