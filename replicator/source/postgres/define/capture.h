// What of a changed row goes into the outbox: an expression over it, and the columns that make an update
// count.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/catalog/catalog.h"

namespace lockstep {

/// An expression over one row of a table whose values, old and new, go into the outbox.
struct CaptureDesign {
  std::string relation;
  std::string expression;
  std::string value_type;  ///< as SQL writes it
  unsigned value_type_oid = 0;
  /// An update counts only if one of these columns changed; none: any that a view reads.
  std::optional<std::vector<std::string>> columns;
  bool settings_free = true;   ///< its text form is the same whatever a session has set
  bool is_key = false;         ///< the primary key
  bool is_expression = false;  ///< more than columns: it may fail on a row

  auto identity() const { return std::tie(relation, expression, value_type, columns); }
};

struct DescribedCapture {
  std::optional<CaptureDesign> capture;
  std::string fault;              ///< why there is none
  std::string remedy;             ///< of the fault
  bool is_missing_right = false;  ///< the fault is the current user's, who may not look into the table
};

/// What a track wants captured of its table. REQUIRES: the table has columns.
DescribedCapture describe_capture(pqxx::work& transaction, const PostgresRelation& table,
                                  const TrackConfig& track);

/// The text without white space at its ends.
std::string trimmed(const std::string& text);

}  // namespace lockstep
