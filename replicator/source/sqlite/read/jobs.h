// Jobs, as {schema}_job, _job_change and _job_page keep them: adds them, reads the lists of fan-outs, saves
// how far Elasticsearch has acknowledged them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/job.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/position.h"
#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// As ChangeLog::jobs(). Throws Error.
UnfinishedJobs load_jobs(SqliteConnection& connection, const SqlitePipeline& pipeline);

/// As SourceTransaction::fan_out_page(). Throws Error.
FanOutPage read_fan_out_page(SqliteConnection& connection, JobId job, const JobPosition& after,
                             std::int64_t limit);

/// What is to be written of jobs. Every function throws Error. REQUIRES: a SqliteWrite is open.
class SqliteJobs {
 public:
  /// `connection` must outlive this.
  SqliteJobs(SqliteConnection& connection, int pipeline) : connection_(connection), pipeline_(pipeline) {}

  /// Adds a job over a whole index, unless one of its kind that nobody has begun exists: none then.
  std::optional<Job> add(IndexId index, JobKind kind, const std::string& reason);

  /// Adds a fan-out of the changes, or lets them join one; returns it. `being_expanded` is the fan-out whose
  /// list is being made.
  Job add_fan_out(const SqliteIndex& index, const std::vector<CapturedChange>& changes,
                  std::optional<JobId> being_expanded);

  /// Adds a fan-out of these rows of the outbox.
  Job add_large_change(const SqliteIndex& index, const SqliteRows& rows);

  /// Adds a fan-out of these documents, each once. REQUIRES: there are some.
  Job add_rendering(IndexId index, const DocumentIds& ids, const std::string& reason);

  /// Adds the jobs that write, or delete, the documents found; returns them.
  std::vector<Job> add_repair(const SqliteIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason);

  void begin(JobId job);
  void save(const JobProgress& progress);
  void remove(JobId job);

 private:
  Job insert(IndexId index, JobKind kind, const std::string& reason, std::optional<JobId> behind = {});
  /// The newest fan-out whose list is made, or being made, of the same rows.
  std::optional<JobId> fan_out_ahead(IndexId index, const std::vector<CapturedChange>& changes,
                                     std::optional<JobId> being_expanded);
  std::optional<Job> fan_out_to_join(IndexId index, std::optional<JobId> behind,
                                     std::optional<JobId> being_expanded);
  void add_change(JobId job, const CapturedChange& change);

  SqliteConnection& connection_;
  const int pipeline_;
};

/// Documents in a page of a list.
inline constexpr std::int64_t kFanOutPageDocuments = 2'000;

/// Writes a page of a list, whose last document has this number in the list. REQUIRES: a SqliteWrite is open.
void add_fan_out_page(SqliteConnection& connection, JobId job, std::int64_t last_number,
                      const DocumentIds& ids);

/// The list of a fan-out is complete. REQUIRES: a SqliteWrite is open.
void complete_fan_out(SqliteConnection& connection, JobId job, std::int64_t documents);

}  // namespace lockstep
