// Jobs inside of a transaction, as lockstep.job, job_change and job_page keep them: adds them, reads the
// lists of fan-outs, saves how far Elasticsearch has acknowledged them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/job.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/position.h"
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

  /// Adds a fan-out of what is left of the transaction.
  Job add_large_transaction(const PostgresIndex& index, const PostgresLargeTransaction& transaction);

  /// Makes the list of a fan-out, or, when it comes from a large transaction, the next part of it, unless
  /// somebody has made it. Adds what is found to `list`. Returns whether the list is complete; if not, call
  /// it in another transaction again. REQUIRES: `index` is one of `pipeline`.
  bool expand(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job, FanOutList& list);

  /// Adds a fan-out of these documents; none: there are no documents.
  std::optional<Job> add_rendering(IndexId index, const DocumentIds& ids, const std::string& reason);

  /// Adds the jobs that write, or delete, the documents found; returns them.
  std::vector<Job> add_repair(const PostgresIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason);

  void begin(JobId job);

  FanOutPage page(JobId job, const JobPosition& after, std::int64_t limit);

  void save(const JobProgress& progress);

 private:
  Job insert(IndexId index, JobKind kind, const std::string& reason, std::optional<JobId> behind = {});
  /// Adds a fan-out of the documents whose ids the query gives; none: it gives none.
  std::optional<Job> add_listed(IndexId index, const std::string& ids_query, const std::string& reason);
  /// As expand(), of the changes that a fan-out keeps itself: returns the number of documents.
  std::int64_t list_of_changes(const PostgresIndex& index, JobId job);
  /// As expand(), of a large transaction.
  bool list_of_transaction(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job,
                           const PostgresLargeTransaction& transaction, FanOutList& list);
  /// The newest fan-out whose list is made, or being made, of the same rows.
  std::optional<JobId> fan_out_ahead(IndexId index, const std::vector<CapturedChange>& changes,
                                     std::optional<JobId> being_expanded);
  /// Writes the ids that `ids_query` gives, without duplicates, behind the first `before` documents of the
  /// list; returns their number.
  std::int64_t write_list(JobId job, std::int64_t before, const std::string& ids_query);
  /// The list is complete.
  void set_total(JobId job, std::int64_t documents);

  PostgresTransaction& transaction_;
  const int pipeline_;
};

}  // namespace lockstep
