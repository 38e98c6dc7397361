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
constexpr const char* kLooking = "looking for the tables of locks";

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

std::size_t PostgresLocks::pending(PostgresSession& session) const {
  PostgresTransaction transaction(session, "reading the migrations of the locks", Isolation::kEachStatement);
  return pending_migrations(transaction, schema_, read_migrations(postgresql_lock_migrations())).size();
}

void PostgresLocks::prepare() {
  session_.call(kLooking, kPrepare, [&](PostgresSession& session) {
    if (pending(session) == 0) return;
    migrate(session, schema_, read_migrations(postgresql_lock_migrations()), [](const Migration&) {});
  });
  use_tables();
}

bool PostgresLocks::attach() {
  std::size_t missing = 0;
  session_.call(kLooking, kPrepare, [&](PostgresSession& session) { missing = pending(session); });
  if (missing == postgresql_lock_migrations().size()) return false;
  if (missing > 0) {
    throw Error({kLooking, "an older lockstep has made them", "run `lockstep locks prepare`"});
  }
  use_tables();
  return true;
}

void PostgresLocks::use_tables() {
  use(std::make_unique<PostgresLockRows>(session_), std::make_unique<PostgresJournal>(session_, lease()));
}

}  // namespace lockstep
