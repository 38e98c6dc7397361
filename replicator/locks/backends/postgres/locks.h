// The lock manager whose locks and journal are tables of PostgreSQL, for data that lives in Elasticsearch.
// All locks of an operation are judged and taken in one transaction of the server, which is one function
// call; the functions (migrations/postgresql-locks) are what other languages call too.
//
// The tables have a schema of their own, so that they outlive the pipeline of the same configuration. Fencing
// tokens come from one row, which is locked from the moment a token is drawn until it is committed: that is
// what makes L5 true, where those of a sequence become visible in another order. So commits of operations
// queue up, each for as long as one flush of the log takes; taking and releasing locks does not. A token is
// never below the clock in milliseconds: neither a restored backup nor a promoted replica gives one again.
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
  /// `limit` bounds how long an answer may take.
  PostgresLocks(SourceConfig source, std::chrono::milliseconds lease, std::chrono::milliseconds limit);

  void prepare() override;

 private:
  const std::string schema_;
  PostgresLockSession session_;
};

}  // namespace lockstep
