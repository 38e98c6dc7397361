// Along which columns a view comes to the rows of a table, as far as its text shows. SQLite reports which
// columns a view reads (view_reads), but not what it compares them with.
//
// Comparisons other than an equality of two columns are not in it. Names that may mean several tables mean
// all of them: a join too many costs a document that is rendered for nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {

/// Names of tables and columns, not quoted.
struct SqliteJoin {
  std::string table;
  std::string column;
  std::string other;
  std::string other_column;
};

/// A view's joins, and the views that it reads.
struct SqliteViewJoins {
  std::vector<SqliteJoin> equal;
  std::map<std::string, int> entries;  ///< how often it names each table
  /// The same, where of the subqueries that give its columns only the one that names a table most often
  /// counts: nothing joins the one with the other.
  std::map<std::string, int> together;
  bool recursive = false;
  bool is_compound = false;  ///< rows may come from several selects: union, intersect, except
};

/// Its statement; empty: there is no such view. Throws SqliteError.
std::string text_of_view(SqliteConnection& connection, const std::string& view);

/// Throws SqliteError. REQUIRES: `view` is the name of a view that SQLite can read.
SqliteViewJoins read_view_joins(SqliteConnection& connection, const std::string& view);

}  // namespace lockstep
