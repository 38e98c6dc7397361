// Jobs, as {schema}_job keeps them: adds them, saves how far Elasticsearch has acknowledged them.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/outbox/job.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// As ChangeLog::jobs(). Throws Error.
UnfinishedJobs load_jobs(SqliteConnection& connection, const SqlitePipeline& pipeline);

/// The writes of jobs. Every function throws Error. REQUIRES: a SqliteWrite is open.
class SqliteJobs {
 public:
  /// `connection` must outlive this.
  SqliteJobs(SqliteConnection& connection, int pipeline) : connection_(connection), pipeline_(pipeline) {}

  /// Adds a job over a whole index, unless one of its kind exists that has not begun: none then.
  std::optional<Job> add(IndexId index, JobKind kind, const std::string& reason);

  /// Adds one, regardless of others.
  Job insert(IndexId index, JobKind kind, const std::string& reason);

  void begin(JobId job);
  void save(const JobProgress& progress);
  void remove(JobId job);

 private:
  SqliteConnection& connection_;
  const int pipeline_;
};

}  // namespace lockstep
