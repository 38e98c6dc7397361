// `check` on a SQLite file: its SQLite, its place and owner, the configuration, and objections of its rows.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// REQUIRES: a snapshot is open.
std::vector<Finding> check_sqlite(SqliteConnection& connection, const Config& config);

/// Adds reasons against following the file in its place, such as a network file system, to `findings`.
void check_file(const SqliteConnection& connection, std::vector<Finding>& findings);

/// Reads some rows of each view, and adds the obstacles to their becoming documents to `findings`. REQUIRES:
/// as above.
void check_documents(SqliteConnection& connection, const Config& config, std::vector<Finding>& findings);

}  // namespace lockstep
