#include "replicator/source/postgres/session/migrations.h"

#include <charconv>
#include <optional>
#include <stdexcept>

#include "replicator/embedded_file.h"
#include "replicator/error.h"
#include "replicator/source/checksum.h"

namespace lockstep {
namespace {

constexpr const char* kCreateTable = R"sql(create table {schema}.migration (
  number     integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at timestamptz not null default clock_timestamp(),
  applied_by text not null          -- version of lockstep
);
comment on table {schema}.migration is 'how lockstep''s own schema came to be';
)sql";

// Transaction-level, so that it works through a pooler too.
void lock_migrations(PostgresTransaction& transaction, const std::string& schema_name) {
  transaction.run_once("select pg_advisory_xact_lock(hashtextextended('lockstep migrations ' || $1, 0))",
                       schema_name);
}

// In the first line of a migration, with a number.
constexpr std::string_view kOldestProgram = "-- oldest program: ";

std::optional<int> oldest_program_of(std::string_view sql) {
  if (!sql.starts_with(kOldestProgram)) return std::nullopt;
  sql.remove_prefix(kOldestProgram.size());
  int number = 0;
  const auto [end, error] = std::from_chars(sql.data(), sql.data() + sql.size(), number);
  if (error != std::errc{} || *end != '\n')
    throw std::logic_error("a migration's oldest program is no number");
  return number;
}

OtherVersion newer(const std::string& schema_name, int database, std::size_t known) {
  return OtherVersion("schema \"" + schema_name + "\" was migrated by a newer lockstep: it has migration " +
                      std::to_string(database) + ", this is lockstep " LOCKSTEP_VERSION ", which knows " +
                      std::to_string(known) + "; install that version of lockstep or a newer one");
}

UsageError altered(const Migration& migration, const std::string& applied_by) {
  return UsageError("migration " + std::string(migration.name) +
                    " of this lockstep (" LOCKSTEP_VERSION ") is not the one that lockstep " + applied_by +
                    " has applied: released migrations must not be changed; install an official build");
}

}  // namespace

std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files) {
  std::vector<Migration> migrations;
  for (const EmbeddedFile& file : files) {
    Migration migration;
    std::from_chars(file.name.data(), file.name.data() + file.name.size(), migration.number);
    if (migration.number != static_cast<int>(migrations.size()) + 1 || !file.name.ends_with(".sql")) {
      throw std::logic_error("migration " + std::string(file.name) + " is out of order");
    }
    migration.name = file.name.substr(0, file.name.size() - 4);
    migration.sql = file.content;
    migration.checksum = checksum(file.content);
    migration.oldest_program = oldest_program_of(file.content);
    migrations.push_back(std::move(migration));
  }
  return migrations;
}

std::vector<Migration> pending_migrations(PostgresTransaction& transaction, const std::string& schema_name,
                                          const std::vector<Migration>& migrations, SchemaUse use) {
  const pqxx::result is_new = transaction.run_once(
      "select not exists (select 1 from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "
      "where n.nspname = $1 and c.relname = 'migration')",
      schema_name);
  if (is_new[0][0].as<bool>()) return migrations;
  std::size_t applied = 0;
  for (const pqxx::row& row : transaction.run_once(transaction.session().sql(
           // An older schema has no such column.
           "select m.number, m.checksum, m.applied_by, (to_jsonb(m) ->> 'oldest_program')::integer "
           "from {schema}.migration as m order by m.number"))) {
    const auto number = row[0].as<std::size_t>();
    if (number > migrations.size()) {
      const auto oldest_program = row[3].is_null() ? number : row[3].as<std::size_t>();
      if (use == SchemaUse::kServe && oldest_program <= migrations.size()) continue;
      throw newer(schema_name, row[0].as<int>(), migrations.size());
    }
    if (row[1].c_str() != migrations[number - 1].checksum) {
      throw altered(migrations[number - 1], row[2].c_str());
    }
    applied = number;
  }
  return {migrations.begin() + static_cast<std::ptrdiff_t>(applied), migrations.end()};
}

void require_migrated(PostgresTransaction& transaction, const std::string& schema_name) {
  const std::vector<Migration> migrations = read_migrations(postgresql_migrations());
  if (pending_migrations(transaction, schema_name, migrations, SchemaUse::kServe).empty()) return;
  throw OtherVersion("schema \"" + schema_name +
                     "\" was made by an older lockstep than this one (" LOCKSTEP_VERSION
                     "); run `lockstep apply`");
}

std::string migration_sql(const PostgresSession& session, const Migration& migration) {
  std::string text = session.sql("set local search_path = {schema}, pg_temp;\n");
  if (migration.number == 1) text += session.sql(kCreateTable);
  return text + session.sql(migration.sql);
}

void migrate(PostgresSession& session, const std::string& schema_name,
             const std::vector<Migration>& migrations,
             const std::function<void(const Migration&)>& progress) {
  while (true) {
    PostgresTransaction transaction(session, "migrating schema " + session.schema());
    lock_migrations(transaction, schema_name);
    const std::vector<Migration> pending =
        pending_migrations(transaction, schema_name, migrations, SchemaUse::kChange);
    if (pending.empty()) return;
    const Migration& next = pending.front();
    progress(next);
    // "if not exists" would need the right to create schemas even where the database's owner has made one for
    // lockstep.
    const pqxx::result has_schema =
        transaction.run_once("select to_regnamespace($1) is not null", session.schema());
    if (!has_schema[0][0].as<bool>()) transaction.execute("create schema " + session.schema());
    transaction.execute(migration_sql(session, next));
    transaction.run_once(session.sql("insert into {schema}.migration (number, name, checksum, applied_by) "
                                     "values ($1, $2, $3, $4)"),
                         next.number, std::string(next.name), next.checksum, LOCKSTEP_VERSION);
    if (next.oldest_program) {
      transaction.run_once(session.sql("update {schema}.migration set oldest_program = $1 where number = $2"),
                           *next.oldest_program, next.number);
    }
    transaction.commit();
  }
}

}  // namespace lockstep
