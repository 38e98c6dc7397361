// A PgBouncer of a test's own, in front of a database.
#pragma once

#include <memory>
#include <string>

#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {

class PgBouncer {
 public:
  /// Starts one. `pool_mode` is "session", "transaction" or "statement". REQUIRES: `database` outlives it.
  PgBouncer(const PostgresDatabase& database, const std::string& pool_mode);

  /// Of the database through it, as the configuration file has it.
  const std::string& url() const { return url_; }

 private:
  TemporaryFolder folder_;
  std::string url_;
  std::unique_ptr<Program> program_;
};

}  // namespace lockstep::support
