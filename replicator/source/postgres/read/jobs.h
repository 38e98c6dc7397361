// Jobs inside of a transaction, as lockstep.job keeps them: adds them, saves how far Elasticsearch has
// acknowledged them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/job.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// As ChangeLog::jobs(). Throws Error.
UnfinishedJobs load_jobs(PostgresTransaction& transaction, const PostgresPipeline& pipeline);

/// Every function throws Error.
class PostgresJobs {
 public:
  /// `transaction` must outlive this.
  PostgresJobs(PostgresTransaction& transaction, int pipeline)
      : transaction_(transaction), pipeline_(pipeline) {}

  /// Adds a job over a whole index, unless one of its kind exists that has not begun: none then.
  std::optional<Job> add(IndexId index, JobKind kind, const std::string& reason);

  /// Adds one, regardless of others.
  Job insert(IndexId index, JobKind kind, const std::string& reason);

  void begin(JobId job);

  void save(const JobProgress& progress);

 private:
  PostgresTransaction& transaction_;
  const int pipeline_;
};

}  // namespace lockstep
