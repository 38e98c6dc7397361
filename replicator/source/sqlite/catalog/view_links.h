// Which rows of a view's tables belong together, place by place, as far as the view's text shows: a view that
// names a table twice comes to its rows by two ways, and a change of a row must follow each.
//
// Only what is certain counts: an equality of two columns that rows must fulfil, where each name can mean one
// thing alone.
#pragma once

#include <string>

#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/view/view_graph.h"

namespace lockstep {

struct SqliteViewLinks {
  ViewGraph graph;
  bool recursive = false;    ///< a query repeats itself; links lead to its first step alone
  bool is_compound = false;  ///< rows may come from several selects: union, intersect, except
};

/// A view's statement; empty: there is no such view. Throws SqliteError.
std::string text_of_view(SqliteConnection& connection, const std::string& view);

/// Throws SqliteError. REQUIRES: `view` is the name of a view that SQLite can read.
SqliteViewLinks read_view_links(SqliteConnection& connection, const std::string& view);

}  // namespace lockstep
