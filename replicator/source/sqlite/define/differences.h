// Changes in the file since the last `apply` by which changes are lost or documents may be out of date, and
// how triggers that a migration of the application has dropped come back.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

struct SqliteDifference {
  std::string text;            ///< one sentence, with the remedy
  bool loses_changes = false;  ///< triggers are missing
};

/// REQUIRES: a transaction is open.
std::vector<SqliteDifference> differences_from_applied(SqliteConnection& connection,
                                                       const std::string& pipeline);

/// The first of these by which changes are lost; empty: none are. REQUIRES: a transaction is open.
std::string lost_changes(SqliteConnection& connection, const std::string& pipeline);

/// Makes triggers again that are gone or do not fit their table any more, and adds jobs that compare the
/// indices which may have missed changes: all of it in one transaction. Returns its work, in sentences;
/// empty: there was none. Faults that it cannot fix (a table is gone) are left to differences_from_applied().
/// REQUIRES: no transaction is open.
std::vector<std::string> mend_triggers(SqliteConnection& connection, const std::string& pipeline);

}  // namespace lockstep
