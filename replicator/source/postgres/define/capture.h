// The part of a changed row that the triggers write into the outbox: the value of an expression over it. And
// the columns that make an update of the row count.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/catalog/catalog.h"

namespace lockstep {

struct CaptureDesign {
  std::string relation;
  std::string expression;  ///< over one row, which goes by the table's own name
  std::string value_type;  ///< as SQL writes it
  unsigned value_type_oid = 0;
  /// An update counts only if one of these columns changed. None: if a column changed that a view reads.
  std::optional<std::vector<std::string>> columns;
  bool settings_free = true;   ///< no setting of a session changes its text form
  bool is_key = false;         ///< the primary key
  bool is_expression = false;  ///< more than columns, so it may fail on a row

  auto identity() const { return std::tie(relation, expression, value_type, columns); }
};

struct DescribedCapture {
  std::optional<CaptureDesign> capture;
  std::string fault;              ///< why there is no capture
  std::string remedy;             ///< for the fault
  bool is_missing_right = false;  ///< the fault is that the current user may not read the table
};

/// The capture that a track asks for. REQUIRES: the table has columns.
DescribedCapture describe_capture(PostgresTransaction& transaction, const PostgresRelation& table,
                                  const TrackConfig& track);

/// The text without white space at its ends.
std::string trimmed(const std::string& text);

}  // namespace lockstep
