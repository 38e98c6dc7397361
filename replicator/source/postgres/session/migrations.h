// Lockstep's own schema in PostgreSQL: numbered migrations, forward only, each in a transaction of its own.
//
// {schema}.migration keeps which ones were applied, and the checksum of each. A migration is frozen by its
// release: an edited one is an error, because nobody could tell what a database really holds.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/embedded_file.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct Migration {
  int number = 0;
  std::string_view name;  ///< file name without ".sql", e.g. "0001_schema"
  std::string_view sql;   ///< `{schema}` stands for the schema's quoted name
  std::string checksum;
};

/// The migrations in `files`, in order. Throws std::logic_error unless they are numbered 1, 2, 3, … .
std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files);

/// Those of `migrations` that the database does not have yet. Throws UsageError when a newer lockstep has
/// migrated it, or when it has another text of a migration. `schema_name` is not quoted.
std::vector<Migration> pending_migrations(PostgresTransaction& transaction, const std::string& schema_name,
                                          const std::vector<Migration>& migrations);

/// Throws UsageError unless the schema is exactly as this lockstep makes it.
void require_migrated(PostgresTransaction& transaction, const std::string& schema_name);

/// The statements of a migration; before those of the first one, the statements that make the table of
/// migrations.
std::string migration_sql(const PostgresSession& session, const Migration& migration);

/// Brings the schema up to date; tells `progress` each migration before it runs. Several processes may do so
/// at once. Throws as pending_migrations() does, and Error.
void migrate(PostgresSession& session, const std::string& schema_name,
             const std::vector<Migration>& migrations, const std::function<void(const Migration&)>& progress);

}  // namespace lockstep
