#include "replicator/source/sqlite/read/jobs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>

#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/read/routes.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kTable = "job";
constexpr const char* kLoading = "loading the jobs";
constexpr const char* kAdding = "adding a job";
constexpr const char* kAddingFanOut = "making a job of a large change";
constexpr const char* kSaving = "saving the jobs";

// Changes of more values than this are not compared with other fan-outs. Nobody expects a statement over more
// rows to come again at once.
constexpr std::size_t kComparedValues = 100;

std::optional<std::int64_t> value_of(std::optional<JobId> job) {
  return job ? std::optional(job->value) : std::nullopt;
}

// How many documents of the list are acknowledged.
std::int64_t number_of(const JobPosition& position) {
  const auto* const after = std::get_if<AfterNumber>(&position);
  return after == nullptr ? 0 : after->number;
}

// Otherwise the view would seem to be what cannot be read.
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
  job.done = stored_integer(row[4], kTable);
  job.total = row[5].optional_integer();
  job.reason = stored_text(row[6], kTable);
  if (!row[7].is_null()) job.behind = JobId{row[7].integer()};
  job.keeps_rows = !row[8].is_null();
  return job;
}

}  // namespace

UnfinishedJobs load_jobs(SqliteConnection& connection, const SqlitePipeline& pipeline) {
  UnfinishedJobs jobs;
  SqliteStatement row(connection, kLoading,
                      "select id, index_id, kind, position, done, total, reason, behind, read_to "
                      "from {schema}_job where pipeline = ?1 order by id",
                      pipeline.id());
  while (row.step()) {
    const JobId id{row[0].integer()};
    const IndexId index{static_cast<int>(stored_integer(row[1], kTable))};
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

FanOutPage read_fan_out_page(SqliteConnection& connection, JobId job, const JobPosition& after,
                             std::int64_t limit) {
  const std::int64_t behind = number_of(after);
  FanOutPage page;
  page.position = AfterNumber{behind};
  page.end = true;
  SqliteStatement rows(connection, "reading the list of a large change",
                       "select number, ids from {schema}_job_page where job = ?1 and number > ?2 "
                       "order by number limit 2",
                       job.value, behind);
  if (!rows.step()) return page;
  const std::int64_t last = rows[0].integer();
  const std::vector<std::string> ids = stored_texts(rows[1], "job_page");
  const bool more = rows.step();
  const std::int64_t first = last - static_cast<std::int64_t>(ids.size());  // in front of the page's first
  const std::int64_t skipped = std::max<std::int64_t>(0, behind - first);
  const std::int64_t end = std::min(static_cast<std::int64_t>(ids.size()), skipped + limit);
  for (std::int64_t i = skipped; i < end; ++i) page.ids.push_back({ids[static_cast<std::size_t>(i)]});
  page.position = AfterNumber{first + end};
  page.end = !more && first + end == last;
  return page;
}

Job SqliteJobs::insert(IndexId index, JobKind kind, const std::string& reason, std::optional<JobId> behind) {
  connection_.execute(kAdding, "update {schema}_counter set job = job + 1");
  SqliteStatement(connection_, kAdding,
                  "insert into {schema}_job (id, pipeline, index_id, kind, reason, behind) "
                  "select job, ?1, ?2, ?3, ?4, ?5 from {schema}_counter",
                  pipeline_, index.value, name_of(kind), reason, value_of(behind))
      .run();
  SqliteStatement id(connection_, kAdding, "select job from {schema}_counter");
  id.step();
  Job job;
  job.id = {id[0].integer()};
  job.index = index;
  job.kind = kind;
  job.reason = reason;
  job.behind = behind;
  return job;
}

std::optional<Job> SqliteJobs::add(IndexId index, JobKind kind, const std::string& reason) {
  SqliteStatement waiting(
      connection_, kAdding,
      "select 1 from {schema}_job where pipeline = ?1 and index_id = ?2 and kind = ?3 and position is null",
      pipeline_, index.value, name_of(kind));
  if (waiting.step()) return std::nullopt;
  return insert(index, kind, reason);
}

Job SqliteJobs::add_fan_out(const SqliteIndex& index, const std::vector<CapturedChange>& changes,
                            std::optional<JobId> being_expanded) {
  const std::optional<JobId> behind = fan_out_ahead(index.id, changes, being_expanded);
  std::optional<Job> job = fan_out_to_join(index.id, behind, being_expanded);
  if (!job) job = insert(index.id, JobKind::kFanOut, "a change of many documents of " + index.alias, behind);
  for (const CapturedChange& change : changes) add_change(job->id, change);
  return *job;
}

std::optional<Job> SqliteJobs::fan_out_to_join(IndexId index, std::optional<JobId> behind,
                                               std::optional<JobId> being_expanded) {
  SqliteStatement found(connection_, kAddingFanOut,
                        "select id, reason from {schema}_job "
                        "where pipeline = ?1 and index_id = ?2 and kind = 'fan_out' and total is null "
                        "and read_to is null and behind is ?3 and id is not ?4 "
                        "and (select coalesce(sum(length(c.keys)), 0) from {schema}_job_change as c "
                        "where c.job = {schema}_job.id) < ?5 order by id desc limit 1",
                        pipeline_, index.value, value_of(behind), value_of(being_expanded), kMostJoinedBytes);
  if (!found.step()) return std::nullopt;
  Job job;
  job.id = {found[0].integer()};
  job.index = index;
  job.kind = JobKind::kFanOut;
  job.reason = stored_text(found[1], kTable);
  job.behind = behind;
  return job;
}

std::optional<JobId> SqliteJobs::fan_out_ahead(IndexId index, const std::vector<CapturedChange>& changes,
                                               std::optional<JobId> being_expanded) {
  std::optional<JobId> ahead;
  for (const CapturedChange& change : changes) {
    if (change.values.size() > kComparedValues) continue;
    SqliteStatement found(
        connection_, kAddingFanOut,
        "select max(c.job) from {schema}_job as j join {schema}_job_change as c on c.job = j.id "
        "where j.pipeline = ?1 and j.index_id = ?2 and (j.total is not null or j.id = ?3) and c.capture = ?4 "
        "and json_array_length(c.keys) <= ?5 and exists (select 1 from json_each(c.keys) as k "
        "where k.value in (select value from json_each(?6)))",
        pipeline_, index.value, value_of(being_expanded), change.capture.value,
        static_cast<std::int64_t>(kComparedValues), json_array(change.values));
    if (!found.step() || found[0].is_null()) continue;
    ahead = std::max(ahead.value_or(JobId{}), JobId{found[0].integer()});
  }
  return ahead;
}

void SqliteJobs::add_change(JobId job, const CapturedChange& change) {
  SqliteStatement(connection_, kAddingFanOut,
                  "insert into {schema}_job_change (job, capture, keys) select ?1, ?2, ?3 "
                  "where not exists (select 1 from {schema}_job_change "
                  "where job = ?1 and capture = ?2 and keys = ?3)",
                  job.value, change.capture.value, json_array(change.values))
      .run();
}

Job SqliteJobs::add_large_change(const SqliteIndex& index, const SqliteRows& rows) {
  Job job = insert(index.id, JobKind::kFanOut, "a large change");
  job.keeps_rows = true;
  SqliteStatement(connection_, kAddingFanOut,
                  "update {schema}_job set read_from = ?2, read_to = ?3 where id = ?1", job.id.value,
                  rows.behind, rows.up_to)
      .run();
  return job;
}

Job SqliteJobs::add_rendering(IndexId index, const DocumentIds& ids, const std::string& reason) {
  Job fan_out = insert(index, JobKind::kFanOut, reason);
  std::unordered_set<std::string_view> listed;
  DocumentIds page;
  std::int64_t number = 0;
  const auto write_page = [&] {
    if (!page.empty()) add_fan_out_page(connection_, fan_out.id, number, page);
    page.clear();
  };
  for (const DocumentId& id : ids) {
    if (!listed.insert(id.text).second) continue;
    page.push_back(id);
    if (++number % kFanOutPageDocuments == 0) write_page();
  }
  write_page();
  complete_fan_out(connection_, fan_out.id, number);
  fan_out.total = number;
  return fan_out;
}

// A fan-out renders by _id. It reaches no text that is no value of the _id's type and, where the view has no
// routing, no document under one; a sweep deletes those.
std::vector<Job> SqliteJobs::add_repair(const SqliteIndex& index, const std::vector<FoundDocument>& documents,
                                        const std::string& reason) {
  std::vector<FoundDocument> repairable;
  bool all = true;
  for (const FoundDocument& document : documents) {
    const bool is_within_reach =
        can_be_id(index, document.id.text) && (index.routed || document.routing.empty());
    if (is_within_reach) repairable.push_back(document);
    all &= is_within_reach;
  }
  std::vector<Job> jobs;
  if (!repairable.empty()) {
    DocumentIds ids;
    for (const FoundDocument& document : repairable) ids.push_back(document.id);
    jobs.push_back(add_rendering(index.id, ids, reason));
  }
  if (index.routed) add_found_routes(connection_, index.id, repairable);
  if (!all) jobs.push_back(insert(index.id, JobKind::kSweep, reason));
  return jobs;
}

void SqliteJobs::begin(JobId job) {
  SqliteStatement(connection_, "beginning a job",
                  "update {schema}_job set position = '' where id = ?1 and position is null", job.value)
      .run();
}

void SqliteJobs::save(const JobProgress& progress) {
  if (progress.kind == JobKind::kFanOut) {
    // Page by page, so that the end of a large job is not one large delete.
    SqliteStatement(connection_, kSaving, "delete from {schema}_job_page where job = ?1 and number <= ?2",
                    progress.job.value, number_of(progress.position))
        .run();
  }
  if (progress.finished) return remove(progress.job);
  // A job with progress has begun, whatever its position.
  SqliteStatement(
      connection_, kSaving,
      "update {schema}_job set position = ?2, done = done + ?3, total = coalesce(?4, total) where id = ?1",
      progress.job.value, to_text(progress.position).value_or(""), progress.done_documents, progress.total)
      .run();
}

void SqliteJobs::remove(JobId job) {
  for (const char* statement :
       {"delete from {schema}_job_page where job = ?1", "delete from {schema}_job_change where job = ?1",
        "delete from {schema}_job where id = ?1"}) {
    SqliteStatement(connection_, kSaving, statement, job.value).run();
  }
}

void add_fan_out_page(SqliteConnection& connection, JobId job, std::int64_t last_number,
                      const DocumentIds& ids) {
  SqliteStatement(connection, "writing the list of a large change",
                  "insert into {schema}_job_page (job, number, ids) values (?1, ?2, ?3)", job.value,
                  last_number, json_array_of_texts(ids))
      .run();
}

void complete_fan_out(SqliteConnection& connection, JobId job, std::int64_t documents) {
  SqliteStatement(connection, "writing the list of a large change",
                  "update {schema}_job set total = ?2, read_from = null, read_to = null where id = ?1",
                  job.value, documents)
      .run();
}

}  // namespace lockstep
