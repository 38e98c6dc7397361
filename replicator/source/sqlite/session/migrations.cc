#include "replicator/source/sqlite/session/migrations.h"

#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kReading = "reading lockstep's migrations";

constexpr const char* kCreateTable = R"sql(-- How lockstep's own tables came to be.
create table {schema}_migration (
  number     integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  applied_by text not null           -- version of lockstep
);
)sql";

}  // namespace

bool has_own_tables(SqliteConnection& connection) {
  SqliteStatement found(connection, kReading,
                        "select 1 from sqlite_schema where type = 'table' and name = '{schema}_migration'");
  return found.step();
}

std::vector<Migration> pending_migrations(SqliteConnection& connection) {
  const std::vector<Migration> migrations = read_migrations(sqlite_migrations());
  if (!has_own_tables(connection)) return migrations;
  std::int64_t applied = 0;
  SqliteStatement rows(connection, kReading,
                       "select number, checksum, applied_by from {schema}_migration order by number");
  while (rows.step()) {
    const std::int64_t number = stored_integer(rows[0], "migration");
    if (number > static_cast<std::int64_t>(migrations.size())) {
      throw newer_schema(connection.schema(), number, migrations.size());
    }
    require_next_migration(applied, number);
    const Migration& known = migrations[static_cast<std::size_t>(applied)];
    if (rows[1].text() != known.checksum) throw altered_migration(known, std::string(rows[2].text()));
    applied = number;
  }
  return {migrations.begin() + applied, migrations.end()};
}

void require_migrated(SqliteConnection& connection) {
  if (!pending_migrations(connection).empty()) throw older_schema(connection.schema());
}

std::string migration_sql(const SqliteConnection& connection, const Migration& migration) {
  const std::string text = connection.sql(migration.sql);
  return migration.number == 1 ? connection.sql(kCreateTable) + text : text;
}

void migrate(SqliteConnection& connection, const std::function<void(const Migration&)>& progress) {
  constexpr const char* kDoing = "migrating lockstep's tables";
  for (const Migration& migration : pending_migrations(connection)) {
    progress(migration);
    connection.execute(kDoing, migration_sql(connection, migration));
    SqliteStatement(
        connection, kDoing,
        "insert into {schema}_migration (number, name, checksum, applied_by) values (?1, ?2, ?3, ?4)",
        migration.number, migration.name, migration.checksum, LOCKSTEP_VERSION)
        .run();
  }
}

}  // namespace lockstep
