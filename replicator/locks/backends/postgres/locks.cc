#include "replicator/locks/backends/postgres/locks.h"

#include <memory>
#include <utility>
#include <vector>

#include "replicator/locks/backends/postgres/journal.h"
#include "replicator/locks/backends/postgres/lock_rows.h"
#include "replicator/source/postgres/session/migrations.h"

namespace lockstep {

/// migrations/postgresql-locks/*.sql in ascending order of their numbers.
std::span<const EmbeddedFile> postgresql_lock_migrations();

namespace {

constexpr std::chrono::seconds kPrepare{60};  // others may be at it

SourceConfig with_schema(SourceConfig source, const std::string& schema) {
  source.schema = schema;
  return source;
}

}  // namespace

std::string lock_schema(const std::string& schema) {
  return schema + "_locks";
}

PostgresLocks::PostgresLocks(SourceConfig source, std::chrono::milliseconds lease,
                             std::chrono::milliseconds limit)
    : StoredLocks(lease),
      schema_(lock_schema(source.schema)),
      session_(with_schema(std::move(source), schema_), limit) {}

void PostgresLocks::prepare() {
  const std::vector<Migration> migrations = read_migrations(postgresql_lock_migrations());
  session_.call("looking for the tables of locks", kPrepare, [&](PostgresSession& session) {
    const bool pending = [&] {
      PostgresTransaction transaction(session, "reading the migrations of the locks",
                                      Isolation::kEachStatement);
      return !pending_migrations(transaction, schema_, migrations).empty();
    }();
    if (pending) migrate(session, schema_, migrations, [](const Migration&) {});
  });
  use(std::make_unique<PostgresLockRows>(session_), std::make_unique<PostgresJournal>(session_, lease()));
}

}  // namespace lockstep
