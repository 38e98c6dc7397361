// Lockstep's own schema in PostgreSQL: numbered migrations, forward only, each in a transaction of its own.
//
// {schema}.migration keeps which ones were applied, and the checksum of each. A migration is frozen by its
// release: an edited one is an error, because nobody could tell what a database really holds.
#pragma once

#include <functional>
#include <optional>
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
  /// The number of migrations that a program must know at least to serve a schema with this one; none: this
  /// one, too.
  std::optional<int> oldest_program = {};
};

enum class SchemaUse {
  kServe,   ///< reads and writes its rows: a newer schema may do
  kChange,  ///< `check`, `plan`, `apply`: only a program that knows all of it
};

/// The migrations in `files`, in order. Throws std::logic_error unless they are numbered 1, 2, 3, … .
std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files);

/// Those of `migrations` that the database does not have yet. Throws OtherVersion when a newer lockstep has
/// migrated it so that this use is not possible, and UsageError when it has another text of a migration.
/// `schema_name` is not quoted.
std::vector<Migration> pending_migrations(PostgresTransaction& transaction, const std::string& schema_name,
                                          const std::vector<Migration>& migrations,
                                          SchemaUse use = SchemaUse::kChange);

/// Throws OtherVersion unless this lockstep can serve the schema as it is.
void require_migrated(PostgresTransaction& transaction, const std::string& schema_name);

/// The statements of a migration; before those of the first one, the statements that make the table of
/// migrations.
std::string migration_sql(const PostgresSession& session, const Migration& migration);

/// Brings the schema up to date; tells `progress` each migration before it runs. Several processes may do so
/// at once. Throws as pending_migrations() does, and Error.
void migrate(PostgresSession& session, const std::string& schema_name,
             const std::vector<Migration>& migrations, const std::function<void(const Migration&)>& progress);

}  // namespace lockstep
