#include "replicator/source/sqlite/read/jobs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kJobTable = "job";
constexpr const char* kLoadingJobs = "loading the jobs";
constexpr const char* kAddingJob = "adding a job";
constexpr const char* kSaving = "saving the jobs";

// Otherwise the view would seem to be the unreadable part.
void require_id_of_view(const SqlitePipeline& pipeline, const Job& job) {
  const auto* const after = std::get_if<AfterDocument>(&job.position);
  const auto index = std::find_if(pipeline.indices.begin(), pipeline.indices.end(),
                                  [&](const SqliteIndex& each) { return each.id == job.index; });
  if (after == nullptr || index == pipeline.indices.end() || can_be_id(*index, after->id.text)) return;
  throw unfit_value("job " + std::to_string(job.id.value), "position", "\"" + after->id.text + "\"",
                    "an integer, as every _id of " + index->view + " is");
}

// A row of the statement in load_jobs(), whose id and index are read.
Job job_of(JobId id, IndexId index, const SqliteStatement& row) {
  Job job;
  job.id = id;
  job.index = index;
  job.kind = job_kind(row[2].optional_text(), id);
  job.position = job_position(row[3].optional_text(), job.kind, id);
  job.done = stored_integer(row[4], kJobTable);
  job.total = row[5].optional_integer();
  job.reason = stored_text(row[6], kJobTable);
  return job;
}

}  // namespace

UnfinishedJobs load_jobs(SqliteConnection& connection, const SqlitePipeline& pipeline) {
  UnfinishedJobs jobs;
  SqliteStatement row(connection, kLoadingJobs,
                      "select id, index_id, kind, position, done, total, reason "
                      "from {schema}_job where pipeline = ?1 order by id",
                      pipeline.id());
  while (row.step()) {
    const JobId id{row[0].integer()};
    const IndexId index{static_cast<int>(stored_integer(row[1], kJobTable))};
    try {
      Job job = job_of(id, index, row);
      require_id_of_view(pipeline, job);
      jobs.readable.push_back(std::move(job));
    } catch (const Error& error) {
      jobs.unreadable.push_back({id, index, error.what()});
    }
  }
  return jobs;
}

Job SqliteJobs::insert(IndexId index, JobKind kind, const std::string& reason) {
  connection_.execute(kAddingJob, "update {schema}_counter set job = job + 1");
  SqliteStatement(connection_, kAddingJob,
                  "insert into {schema}_job (id, pipeline, index_id, kind, reason) "
                  "select job, ?1, ?2, ?3, ?4 from {schema}_counter",
                  pipeline_, index.value, name_of(kind), reason)
      .run();
  SqliteStatement id(connection_, kAddingJob, "select job from {schema}_counter");
  id.step();
  Job job;
  job.id = {id[0].integer()};
  job.index = index;
  job.kind = kind;
  job.reason = reason;
  return job;
}

std::optional<Job> SqliteJobs::add(IndexId index, JobKind kind, const std::string& reason) {
  SqliteStatement waiting(
      connection_, kAddingJob,
      "select 1 from {schema}_job where pipeline = ?1 and index_id = ?2 and kind = ?3 and position is null",
      pipeline_, index.value, name_of(kind));
  if (waiting.step()) return std::nullopt;
  return insert(index, kind, reason);
}

void SqliteJobs::begin(JobId job) {
  SqliteStatement(connection_, "beginning a job",
                  "update {schema}_job set position = '' where id = ?1 and position is null", job.value)
      .run();
}

void SqliteJobs::save(const JobProgress& progress) {
  if (progress.finished) return remove(progress.job);
  // A job with progress has begun, at any position.
  SqliteStatement(
      connection_, kSaving,
      "update {schema}_job set position = ?2, done = done + ?3, total = coalesce(?4, total) where id = ?1",
      progress.job.value, to_text(progress.position).value_or(""), progress.done_documents, progress.total)
      .run();
}

void SqliteJobs::remove(JobId job) {
  SqliteStatement(connection_, kSaving, "delete from {schema}_job where id = ?1", job.value).run();
}

}  // namespace lockstep
