#include "replicator/source/postgres/session/migrations.h"

#include "replicator/embedded_file.h"
#include "replicator/source/postgres/session/stored_value.h"

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

}  // namespace

std::vector<Migration> pending_migrations(PostgresTransaction& transaction, const std::string& schema_name,
                                          const std::vector<Migration>& migrations, SchemaUse use) {
  const pqxx::result is_new = transaction.run_once(
      "select not exists (select 1 from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "
      "where n.nspname = $1 and c.relname = 'migration')",
      schema_name);
  if (is_new[0][0].as<bool>()) return migrations;
  const auto known = static_cast<std::int64_t>(migrations.size());
  std::int64_t applied = 0;
  for (const pqxx::row& row : transaction.run_once(transaction.session().sql(
           // An older schema has no such column.
           "select m.number, m.checksum, m.applied_by, (to_jsonb(m) ->> 'oldest_program')::integer "
           "from {schema}.migration as m order by m.number"))) {
    const auto number = stored<std::int64_t>(row[0], "migration");
    if (number > known) {
      const auto oldest_program = row[3].is_null() ? number : row[3].as<std::int64_t>();
      if (use == SchemaUse::kServe && oldest_program <= known) continue;
      throw newer_schema(schema_name, number, migrations.size());
    }
    require_next_migration(applied, number);
    const Migration& migration = migrations[static_cast<std::size_t>(applied)];
    if (row[1].c_str() != migration.checksum) throw altered_migration(migration, row[2].c_str());
    applied = number;
  }
  return {migrations.begin() + applied, migrations.end()};
}

void require_migrated(PostgresTransaction& transaction, const std::string& schema_name) {
  const std::vector<Migration> migrations = read_migrations(postgresql_migrations());
  if (pending_migrations(transaction, schema_name, migrations, SchemaUse::kServe).empty()) return;
  throw older_schema(schema_name);
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
    // "if not exists" would need the right to create schemas even if the database's owner has made one for
    // Lockstep.
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
