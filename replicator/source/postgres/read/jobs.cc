#include "replicator/source/postgres/read/jobs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kJobTable = "job";
const Doing kLoadingJobs("loading the jobs");
const Doing kAddingJob("adding a job");

// Otherwise the view would seem to be the unreadable part.
void require_id_of_view(PostgresTransaction& transaction, const PostgresPipeline& pipeline, const Job& job) {
  const auto* const after = std::get_if<AfterDocument>(&job.position);
  const auto index = std::find_if(pipeline.indices.begin(), pipeline.indices.end(),
                                  [&](const PostgresIndex& each) { return each.id == job.index; });
  if (after == nullptr || index == pipeline.indices.end()) return;
  const std::string is_id = "select " + castable_id(*index, "$1::text") + " is not null";
  if (transaction.run(kLoadingJobs, is_id, after->id.text)[0][0].as<bool>()) return;
  throw unfit_value("job " + std::to_string(job.id.value), "position", "\"" + after->id.text + "\"",
                    "an _id of the type of " + index->view + " (" + index->id_type + ")");
}

// A row of the statement in load_jobs(), whose id and index are read.
Job job_of(JobId id, IndexId index, const pqxx::row& row) {
  Job job;
  job.id = id;
  job.index = index;
  job.kind = job_kind(optional_text(row[2]), id);
  job.position = job_position(optional_text(row[3]), job.kind, id);
  job.done = stored<std::int64_t>(row[4], kJobTable);
  if (!row[5].is_null()) job.total = row[5].as<std::int64_t>();
  job.reason = stored<std::string>(row[6], kJobTable);
  return job;
}

}  // namespace

UnfinishedJobs load_jobs(PostgresTransaction& transaction, const PostgresPipeline& pipeline) {
  UnfinishedJobs jobs;
  for (const pqxx::row& row :
       transaction.run(kLoadingJobs,
                       "select id, index, kind, position, done, total, reason from {schema}.job "
                       "where pipeline = $1 order by id",
                       pipeline.id())) {
    const JobId id{row[0].as<std::int64_t>()};
    const IndexId index{stored<int>(row[1], kJobTable)};
    try {
      Job job = job_of(id, index, row);
      require_id_of_view(transaction, pipeline, job);
      jobs.readable.push_back(std::move(job));
    } catch (const PostgresError&) {
      throw;
    } catch (const Error& error) {
      jobs.unreadable.push_back({id, index, error.what()});
    }
  }
  return jobs;
}

Job PostgresJobs::insert(IndexId index, JobKind kind, const std::string& reason) {
  Job job;
  job.index = index;
  job.kind = kind;
  job.reason = reason;
  const pqxx::result row = transaction_.run(
      kAddingJob,
      "insert into {schema}.job (pipeline, index, kind, reason) values ($1, $2, $3, $4) returning id",
      pipeline_, index.value, std::string(name_of(kind)), transaction_.session().storable(reason));
  job.id = {row[0][0].as<std::int64_t>()};
  return job;
}

std::optional<Job> PostgresJobs::add(IndexId index, JobKind kind, const std::string& reason) {
  const pqxx::result waiting = transaction_.run(
      kAddingJob, "select 1 from {schema}.job where index = $1 and kind = $2 and position is null limit 1",
      index.value, std::string(name_of(kind)));
  if (!waiting.empty()) return std::nullopt;
  return insert(index, kind, reason);
}

void PostgresJobs::begin(JobId job) {
  transaction_.run(Doing("beginning a job"),
                   "update {schema}.job set position = '' where id = $1 and position is null", job.value);
}

void PostgresJobs::save(const JobProgress& progress) {
  const Doing doing("saving the jobs");
  if (progress.finished) {
    transaction_.run(doing, "delete from {schema}.job where id = $1", progress.job.value);
    return;
  }
  // A job with progress has begun, at any position.
  transaction_.run(
      doing,
      "update {schema}.job set position = $2, done = done + $3, total = coalesce($4, total) where id = $1",
      progress.job.value, to_text(progress.position).value_or(""), progress.done_documents, progress.total);
}

}  // namespace lockstep
