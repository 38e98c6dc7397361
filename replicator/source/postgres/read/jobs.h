// Jobs inside of a transaction, as lockstep.job, job_change and job_page keep them: adds them, reads the
// lists of fan-outs, saves how far Elasticsearch has acknowledged them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/job.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// As ChangeLog::jobs(). Throws Error.
UnfinishedJobs load_jobs(PostgresTransaction& transaction, const PostgresPipeline& pipeline);

/// Every function throws Error.
class PostgresJobs {
 public:
  /// `transaction` must outlive this.
  PostgresJobs(PostgresTransaction& transaction, int pipeline)
      : transaction_(transaction), pipeline_(pipeline) {}

  /// Adds a job over a whole index, unless one of its kind that nobody has begun exists: none then.
  std::optional<Job> add(IndexId index, JobKind kind, const std::string& reason);

  /// Adds a fan-out of the changes, or lets them join one; returns it. `being_expanded` is the fan-out whose
  /// list is being made.
  Job add_fan_out(const PostgresIndex& index, const std::vector<CapturedChange>& changes,
                  std::optional<JobId> being_expanded);

  /// Makes the list of a fan-out, unless somebody has made it; returns the number of its documents.
  std::int64_t expand(const PostgresIndex& index, JobId job);

  /// Adds the jobs that write, or delete, the documents found; returns them.
  std::vector<Job> add_repair(const PostgresIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason);

  void begin(JobId job);

  FanOutPage page(JobId job, const JobPosition& after, std::int64_t limit);

  void save(const JobProgress& progress);

 private:
  Job insert(IndexId index, JobKind kind, const std::string& reason, std::optional<JobId> behind = {});
  /// The newest fan-out whose list is made, or being made, of the same rows.
  std::optional<JobId> fan_out_ahead(IndexId index, const std::vector<CapturedChange>& changes,
                                     std::optional<JobId> being_expanded);
  /// Writes the list of the ids that `ids_query` gives, without duplicates; returns their number, which is
  /// the job's total now.
  std::int64_t write_list(JobId job, const std::string& ids_query);

  PostgresTransaction& transaction_;
  const int pipeline_;
};

}  // namespace lockstep
