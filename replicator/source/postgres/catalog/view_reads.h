// The reads of a view, by PostgreSQL's catalog. So `check` finds an untracked table, and the triggers leave
// out an update that no document can show. An overlooked read would lose changes, so every doubtful one
// counts as read.
//
// pg_depend knows the columns that a view names; nested views are followed by recursion. The parsed queries
// give the rest: whole-row references, called functions, relations of the system's catalog.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// Lower oids belong to the server itself.
inline constexpr unsigned kFirstOwnOid = 16384;

/// How a view reads one table, or another object that has rows and is no view.
struct TableRead {
  std::string name;
  char kind = 'r';            ///< pg_class.relkind
  std::set<int> columns;      ///< numbers of the columns that it names
  bool every_column = false;  ///< it takes the row as a whole
  bool every_update = false;  ///< it reads system columns, which change with every update
};

struct ViewReads {
  std::map<unsigned, TableRead> tables;  ///< by oid; materialized views, foreign tables and sequences too
  std::set<std::string> opaque;          ///< functions that may read anything: every update counts
  /// Functions of the application that are declared volatile, PostgreSQL's default: they are called for all
  /// rows behind a page.
  std::set<std::string> volatile_functions;
  std::set<std::string> unordered;    ///< lists of rows in no order: "json_agg", "array(select …)"
  std::set<std::string> any_rows;     ///< limits or distinct on without an order, which take some rows
  std::set<std::string> environment;  ///< dependencies on more than rows: "now()", "tablesample", …
  std::set<std::string> row_secured;  ///< tables whose policies show the view only a part

  // A role's needs besides the right to read the view itself.
  std::set<unsigned> read_as_invoker;  ///< relations that it reads with the rights of its reader
  std::set<unsigned> functions;        ///< the functions that it calls, except the server's own
};

/// Follows a view down to its tables. REQUIRES: `view` is the oid of a view.
ViewReads read_view(PostgresTransaction& transaction, unsigned view);

}  // namespace lockstep
