// What the servers burn meanwhile: on a machine that they share with lockstep, CPU is what all of them
// compete for.
#pragma once

#include <sys/types.h>

#include "tests/support/postgres_database.h"

namespace lockstep::benchmarks {

/// CPU seconds from construction, or from the last restart(). REQUIRES: both servers run on this machine,
/// Elasticsearch as one node.
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
  pid_t elasticsearch_ = 0;
  double postgresql_before_ = 0;
  double elasticsearch_before_ = 0;
};

}  // namespace lockstep::benchmarks
