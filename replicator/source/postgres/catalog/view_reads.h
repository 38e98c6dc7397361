// What a view reads: found in PostgreSQL's catalog, so that a table which nobody tracks is noticed, and an
// update that no document can show is left out of the outbox. A change that were hidden by this would be lost
// (promise 1), so whatever can't be known counts as read.
//
// pg_depend knows the columns, through nested views by recursion. What it does not say is taken from the
// parsed queries: whole-row references, which functions are called, relations of the system's catalog.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// How a view reads one table (or what else has rows and is no view).
struct TableRead {
  std::string name;
  char kind = 'r';            ///< pg_class.relkind
  std::set<int> columns;      ///< numbers of the columns that are named
  bool every_column = false;  ///< the row is taken as a whole
  bool every_update = false;  ///< system columns are read, which change with every update
};

struct ViewReads {
  std::map<unsigned, TableRead> tables;  ///< by oid; materialized views, foreign tables and sequences too
  std::set<std::string> opaque;          ///< functions that may read anything: no update may be left out
  std::set<std::string> environment;     ///< what depends on more than rows: "now()", "tablesample", …
  std::set<std::string> row_secured;     ///< tables of which policies show the view a part only
  std::string definition;                ///< the text of all views and functions that were followed

  // What a role needs besides the right to read the view itself.
  std::set<unsigned> read_as_invoker;  ///< relations that are read with the rights of whoever reads the view
  std::set<unsigned> functions;        ///< all functions of the database's own that are called
};

/// Follows a view down to its tables. REQUIRES: `view` is the oid of one.
ViewReads read_view(pqxx::transaction_base& transaction, unsigned view);

}  // namespace lockstep
