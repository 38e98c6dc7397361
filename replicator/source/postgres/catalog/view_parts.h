// Parts of a view's documents besides rows: the definitions of the views, tables, functions and types below
// it, and settings of the database. A change of one of them fires no trigger. `apply` keeps them, and the
// leader, `wait` and the next `apply` compare them with the present state.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// Names of parts, in order.
struct PartsComparison {
  std::vector<std::string> changed;  ///< they are others now
  std::vector<std::string>
      replaced;  ///< they are the same again, and were others meanwhile, or may have been
};

/// The parts of a view's checksum: these, joined by blanks.
struct ViewState {
  std::string before;
  std::string text;  ///< as the server prints its definition
  std::string after;
};

using EnumLabels = std::vector<std::pair<std::string, std::string>>;

struct ViewParts {
  /// "function s.f(integer)" → checksum of its definition, and another one (`view_parts`).
  std::map<std::string, std::string> parts;
  std::set<std::string> whole_rows;        ///< names, quoted, of the tables that are read as whole rows
  std::string rows;                        ///< JSON: their places in the catalogue
  std::string origin;                      ///< checksum of the source of these rows
  std::map<std::string, ViewState> views;  ///< by the names of their parts
  /// Of enums, by the names of their parts: the labels in order, each with its row's origin.
  std::map<std::string, EnumLabels> labels;
  int version = 0;                ///< the server's, which prints the views: 15
  std::set<std::string> changed;  ///< parts that the leader has found to be others; of a stored text alone

  /// As Lockstep's table "index" keeps them: JSON.
  std::string text() const;

  /// The differences from `stored`, a text(). In a text that an older Lockstep has stored a name shows them:
  /// a mere checksum counts as changed, one without origin as replaced. Changes the database for a moment: a
  /// view counts as the same if only another version of the server prints it differently, which a temporary
  /// view shows. If none can be made, it counts as changed. An enum that has got labels counts as the same:
  /// no row had them.
  PartsComparison compared_with(PostgresTransaction& transaction, std::string_view stored) const;
};

/// Such a text with a mark that these parts were found to be others: lasts until a comparison is asked for.
std::string marked_as_changed(std::string_view stored, const std::vector<std::string>& changed);

/// Whether `stored` is a text of ViewParts, not the mere checksum of an older Lockstep.
bool is_view_parts(std::string_view stored);

/// The whole rows of such a text; none for a mere checksum.
std::set<std::string> stored_whole_rows(std::string_view stored);

/// `view` is an oid, `whole_rows` as in ViewParts.
ViewParts read_view_parts(PostgresTransaction& transaction, unsigned view, std::set<std::string> whole_rows);

/// `read_definitions`.
std::string read_definitions_sql();

}  // namespace lockstep
