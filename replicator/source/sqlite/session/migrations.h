// Lockstep's own tables in a SQLite file: numbered migrations, forward only.
//
// {schema}_migration keeps which ones were applied, and the checksum of each. A migration is frozen by its
// release: an edited one is an error, because a file's real contents would be unknown.
#pragma once

#include <functional>
#include <vector>

#include "replicator/source/migration.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Whether Lockstep has tables in the file.
bool has_own_tables(SqliteConnection& connection);

/// The migrations that the file lacks. Throws OtherVersion if a newer Lockstep has migrated it, UsageError if
/// it has another text of a migration.
std::vector<Migration> pending_migrations(SqliteConnection& connection);

/// Throws OtherVersion unless this Lockstep knows the tables as they are. REQUIRES: has_own_tables().
void require_migrated(SqliteConnection& connection);

/// The statements of a migration; before those of the first one, the statement that makes the table of
/// migrations.
std::string migration_sql(const SqliteConnection& connection, const Migration& migration);

/// Brings the tables up to date; passes each migration to `progress` before it runs. REQUIRES: a SqliteWrite
/// is open, whose commit makes it take effect.
void migrate(SqliteConnection& connection, const std::function<void(const Migration&)>& progress);

}  // namespace lockstep
