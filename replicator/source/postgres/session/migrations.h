// Lockstep's own schema in PostgreSQL: numbered migrations, forward only, each in a transaction of its own.
//
// Which ones have been applied, and the checksum of each, is kept in {schema}.migration. A migration is
// frozen by its release: an edited one is an error, since nobody can tell then what a database really holds.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/embedded_file.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

struct Migration {
  int number = 0;
  std::string_view name;  ///< file name without ".sql", e.g. "0001_schema"
  std::string_view sql;   ///< `{schema}` stands for the schema's quoted name
  std::string checksum;
};

/// The migrations in `files`, in order. Throws std::logic_error unless they are numbered 1, 2, 3, … .
std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files);

/// What of `migrations` the database does not have yet. Throws UsageError when it was migrated by a newer
/// lockstep, or with another text of a migration.
std::vector<Migration> pending_migrations(pqxx::transaction_base& transaction, const PostgresSession& session,
                                          const std::string& schema_name,
                                          const std::vector<Migration>& migrations);

/// Throws UsageError unless the schema is exactly as this lockstep makes it.
void require_migrated(pqxx::transaction_base& transaction, const PostgresSession& session,
                      const std::string& schema_name);

/// The statements of a migration, with the schema and the table of migrations before the first of all.
std::string migration_sql(const PostgresSession& session, const Migration& migration);

/// Brings the schema up to date; `progress` is told the name of each migration before it runs. Several
/// processes may do so at once. Throws as pending_migrations does, and Error.
void migrate(PostgresSession& session, const std::string& schema_name,
             const std::vector<Migration>& migrations, const std::function<void(const Migration&)>& progress);

}  // namespace lockstep
