// What a view joins, whichever database has it. Each reads its own views: PostgreSQL the parsed query, SQLite
// the text; `init` makes one for the view that it writes. view_paths.h asks it which way leads from a changed
// row to its documents.
//
// A view is taken apart into places: each time that a query in it names a table is one. Nested views, `with`
// queries and functions with an SQL body have places of their own for each use. What is compared by anything
// but the equality of two columns is not in it, so that every link is a condition that rows must fulfil.
//
// Names of tables and columns are as SQL writes them, quoted where they must be.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

using ColumnNames = std::vector<std::string>;

struct ViewGraph {
  struct Place {
    std::string table;
    /// The branch that it stands in, of each union, intersect or except around it, by the number of that.
    /// Rows of two branches of one do not count together.
    std::map<int, int> branches = {};
  };

  /// Rows of two places count together only where all these columns are equal. Two links of the same places:
  /// either holds.
  struct Link {
    std::size_t place = 0;
    std::size_t other = 0;
    ColumnNames columns;
    ColumnNames other_columns;
  };

  /// Rows of one place that are computed together, as in a window: a changed row changes what the others
  /// become.
  struct Peers {
    std::size_t place = 0;
    ColumnNames columns;  ///< equal in all of them
    ColumnNames nulls;    ///< null in all of them
    /// The places whose rows decide: links among `among` lead from each to `place`.
    std::set<std::size_t> deciding;
    std::set<std::size_t> among;
  };

  std::vector<Place> places;
  std::vector<Link> links;
  std::vector<Peers> peers;
  /// The places whose row gives the _id, with the column that holds it. Several: of the branches of a union.
  /// None: nobody can tell.
  std::map<std::size_t, std::string> documents;
  /// Tables whose rows may change any document, and by which clause of the view.
  std::map<std::string, std::string> everywhere;
  /// By table, columns that are unique together.
  std::map<std::string, std::vector<ColumnNames>> keys;
};

}  // namespace lockstep
