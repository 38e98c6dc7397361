// The lock manager whose locks and journal are tables of PostgreSQL, for data that lives in Elasticsearch.
// One function call, hence one transaction, judges and takes all locks of an operation; other languages call
// the same functions (migrations/postgresql-locks).
//
// The tables have a schema of their own, so they outlive the pipeline of the same configuration. Fencing
// tokens come from one row, which stays locked from drawing a token until its commit. This makes L5 true; the
// values of a sequence may become visible in another order. So commits of operations queue, each for as long
// as one flush of the log takes; taking and releasing locks does not. A token is never below the clock in
// milliseconds, so neither a restored backup nor a promoted replica gives one out twice.
#pragma once

#include <chrono>
#include <string>

#include "replicator/config/config.h"
#include "replicator/locks/backends/postgres/session.h"
#include "replicator/locks/stored_locks.h"

namespace lockstep {

/// "lockstep" → "lockstep_locks".
std::string lock_schema(const std::string& schema);

class PostgresLocks final : public StoredLocks {
 public:
  /// No answer may take longer than `limit`.
  PostgresLocks(SourceConfig source, std::chrono::milliseconds lease, std::chrono::milliseconds limit);

  void prepare() override;
  bool attach() override;

 private:
  /// The number of missing migrations.
  std::size_t pending(PostgresSession& session) const;
  void use_tables();

  const std::string schema_;
  PostgresLockSession session_;
};

}  // namespace lockstep
