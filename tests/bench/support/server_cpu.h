// What the servers burn meanwhile: on a machine that they share with lockstep, CPU is what all of them
// compete for.
#pragma once

#include <sys/types.h>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"

namespace lockstep::benchmarks {

/// CPU seconds from construction, or from the last restart(). REQUIRES: PostgreSQL runs on this machine.
class ServerCpu {
 public:
  explicit ServerCpu(support::PostgresDatabase& database);

  void restart();
  double postgresql() const;
  double elasticsearch() const;

 private:
  double postgresql_total() const;
  double elasticsearch_total() const;

  pid_t postmaster_ = 0;
  mutable support::ElasticsearchServer server_;
  double postgresql_before_ = 0;
  double elasticsearch_before_ = 0;
};

}  // namespace lockstep::benchmarks
