// Writers: pgbench with a script of one's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::benchmarks {

struct PgbenchLoad {
  int clients = 2;
  std::int64_t transactions = 0;  ///< over all clients; 0: until it is stopped
  int per_second = 0;             ///< at most, over all clients; 0: as fast as they can
};

class Pgbench {
 public:
  /// Starts it. It is killed at its end when it still runs.
  Pgbench(const support::PostgresDatabase& database, const std::string& script, const PgbenchLoad& load);

  /// Waits for the end of its transactions; returns transactions a second. Throws std::runtime_error with
  /// what it wrote when one failed.
  double finish();

  /// Ends it; returns transactions a second until then, from what it says every second.
  double stop();

 private:
  support::TemporaryFolder folder_;
  support::Program program_;
};

}  // namespace lockstep::benchmarks
