// The ways from a changed row to the documents that show it, along what the view itself joins.
//
// A document that shows a row fulfils every link on every way between them, so one way is enough, and the
// cheapest is taken: it goes along keys, and never from rows to all that have the same parent, such as a
// tenant, while there is another one. Where it passes a union, each branch has a way of its own; where a link
// has alternatives, each has one.
//
// Rows that change together lose no document. Along a way what is left costs less with every step. So of all
// changed rows that a document was made of, the one with the cheapest way meets unchanged rows alone, which
// still lead to it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/view/view_graph.h"

namespace lockstep {

/// From rows of one table to those of another, or of the same, that have equal values.
struct ViewStep {
  std::string from;
  ColumnNames from_columns;
  std::string to;
  ColumnNames to_columns;
  ColumnNames nulls = {};  ///< null in both

  bool operator==(const ViewStep&) const = default;
};

struct ViewPath {
  std::vector<ViewStep> steps;  ///< none: the row's own column gives the _id
  std::string table;            ///< of the documents
  std::string id_column;        ///< there
};

struct PathsOfPlace {
  std::vector<ViewPath> paths;
  bool is_reached = true;     ///< false: documents may show its rows to which nothing leads
  bool are_too_many = false;  ///< more than kMaxPaths; these are not all
};

/// So many branches and alternatives are followed from one place.
inline constexpr std::size_t kMaxPaths = 32;

/// REQUIRES: the graph has that place.
PathsOfPlace paths_from(const ViewGraph& graph, std::size_t place);

/// The tables of which a place is not reached.
std::set<std::string> unreached_tables(const ViewGraph& graph);

}  // namespace lockstep
