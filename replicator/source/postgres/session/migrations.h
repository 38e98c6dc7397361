// Lockstep's own schema in PostgreSQL: numbered migrations, forward only, each in a transaction of its own.
//
// {schema}.migration keeps which ones were applied, and the checksum of each. A migration is frozen by its
// release: an edited one is an error, because a database's real contents would be unknown.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replicator/source/migration.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

enum class SchemaUse {
  kServe,   ///< reads and writes its rows: a newer schema may do
  kChange,  ///< `check`, `plan`, `apply`: only a program that knows all of it
};

/// Those of `migrations` that the database does not have yet. Throws OtherVersion if a newer Lockstep has
/// migrated it so that this use is not possible, and UsageError if it has another text of a migration.
/// `schema_name` is not quoted.
std::vector<Migration> pending_migrations(PostgresTransaction& transaction, const std::string& schema_name,
                                          const std::vector<Migration>& migrations,
                                          SchemaUse use = SchemaUse::kChange);

/// Throws OtherVersion unless this Lockstep can serve the schema as it is.
void require_migrated(PostgresTransaction& transaction, const std::string& schema_name);

/// The statements of a migration; before those of the first one, the statements that make the table of
/// migrations.
std::string migration_sql(const PostgresSession& session, const Migration& migration);

/// Brings the schema up to date; passes each migration to `progress` before it runs. Several processes may do
/// so at once. Throws as pending_migrations() does, and Error.
void migrate(PostgresSession& session, const std::string& schema_name,
             const std::vector<Migration>& migrations, const std::function<void(const Migration&)>& progress);

}  // namespace lockstep
