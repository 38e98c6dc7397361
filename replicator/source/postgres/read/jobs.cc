#include "replicator/source/postgres/read/jobs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "replicator/source/postgres/read/changes.h"
#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kTable = "job";
const Doing kLoading("loading the jobs");
const Doing kAdding("adding a job");
const Doing kAddingFanOut("making a job of a large change");
const Doing kExpanding("making the list of a large change");

// Changes of more values than this are not compared with other fan-outs. Nobody expects a statement over more
// rows to come again at once, and comparing costs the product of the two numbers.
constexpr std::size_t kComparedValues = 100;

// Of a large transaction, in one transaction of ours: enough rows that a million of them do not take long,
// few enough values for a small memory.
constexpr std::int64_t kRowsAtOnce = 1'000;
constexpr std::int64_t kValuesAtOnce = 10'000;

std::optional<std::int64_t> value_of(std::optional<JobId> job) {
  return job ? std::optional(job->value) : std::nullopt;
}

// How many documents of the list are acknowledged.
std::int64_t number_of(const JobPosition& position) {
  const auto* const after = std::get_if<AfterNumber>(&position);
  return after == nullptr ? 0 : after->number;
}

std::optional<std::string> text_of(const pqxx::field& field) {
  return field.is_null() ? std::nullopt : std::optional<std::string>(field.c_str());
}

// Otherwise the view would seem to be what cannot be read.
void require_id_of_view(PostgresTransaction& transaction, const PostgresPipeline& pipeline, const Job& job) {
  const auto* const after = std::get_if<AfterDocument>(&job.position);
  const auto index = std::find_if(pipeline.indices.begin(), pipeline.indices.end(),
                                  [&](const PostgresIndex& each) { return each.id == job.index; });
  if (after == nullptr || index == pipeline.indices.end()) return;
  const std::string is_id = "select " + castable_id(*index, "$1::text") + " is not null";
  if (transaction.run(kLoading, is_id, after->id.text)[0][0].as<bool>()) return;
  throw unfit_value("job " + std::to_string(job.id.value), "position", "\"" + after->id.text + "\"",
                    "an _id of the type of " + index->view + " (" + index->id_type + ")");
}

// A row of the statement in load_jobs(), whose id and index are read.
Job job_of(JobId id, IndexId index, const pqxx::row& row) {
  Job job;
  job.id = id;
  job.index = index;
  job.kind = job_kind(text_of(row[2]), id);
  job.position = job_position(text_of(row[3]), job.kind, id);
  job.done = stored<std::int64_t>(row[4], kTable);
  if (!row[5].is_null()) job.total = row[5].as<std::int64_t>();
  job.reason = stored<std::string>(row[6], kTable);
  if (!row[7].is_null()) job.behind = JobId{row[7].as<std::int64_t>()};
  job.keeps_rows = stored<bool>(row[8], kTable);
  return job;
}

}  // namespace

UnfinishedJobs load_jobs(PostgresTransaction& transaction, const PostgresPipeline& pipeline) {
  UnfinishedJobs jobs;
  for (const pqxx::row& row : transaction.run(
           kLoading,
           "select id, index, kind, position, done, total, reason, behind, transaction is not null "
           "from {schema}.job "
           "where pipeline = $1 order by id",
           pipeline.id())) {
    const JobId id{row[0].as<std::int64_t>()};
    const IndexId index{stored<int>(row[1], kTable)};
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

Job PostgresJobs::insert(IndexId index, JobKind kind, const std::string& reason,
                         std::optional<JobId> behind) {
  Job job;
  job.index = index;
  job.kind = kind;
  job.reason = reason;
  job.behind = behind;
  const pqxx::result row =
      transaction_.run(kAdding,
                       "insert into {schema}.job (pipeline, index, kind, reason, behind) "
                       "values ($1, $2, $3, $4, $5) returning id",
                       pipeline_, index.value, std::string(name_of(kind)),
                       transaction_.session().storable(reason), value_of(behind));
  job.id = {row[0][0].as<std::int64_t>()};
  return job;
}

std::int64_t PostgresJobs::write_list(JobId job, std::int64_t before, const std::string& ids_query) {
  const std::string statement =
      fill_placeholders(postgres_sql("add_job_pages"), {{"schema", transaction_.session().schema()},
                                                        {"job", std::to_string(job.value)},
                                                        {"before", std::to_string(before)},
                                                        {"ids", ids_query}});
  return transaction_.run_once(kExpanding, statement)[0][0].as<std::int64_t>();
}

void PostgresJobs::set_total(JobId job, std::int64_t documents) {
  transaction_.run(kExpanding,
                   "update {schema}.job set total = $2, transaction = null, read_to = null where id = $1",
                   job.value, documents);
}

std::optional<Job> PostgresJobs::add(IndexId index, JobKind kind, const std::string& reason) {
  const pqxx::result waiting = transaction_.run(
      kAdding, "select 1 from {schema}.job where index = $1 and kind = $2 and position is null limit 1",
      index.value, std::string(name_of(kind)));
  if (!waiting.empty()) return std::nullopt;
  return insert(index, kind, reason);
}

Job PostgresJobs::add_fan_out(const PostgresIndex& index, const std::vector<CapturedChange>& changes,
                              std::optional<JobId> being_expanded) {
  const std::optional<JobId> behind = fan_out_ahead(index.id, changes, being_expanded);
  const pqxx::result joined = transaction_.run(kAddingFanOut, postgres_sql("join_fan_out"), index.id.value,
                                               value_of(behind), value_of(being_expanded), kMostJoinedBytes);
  Job job;
  if (joined.empty()) {
    job = insert(index.id, JobKind::kFanOut, "a change of many documents of " + index.alias, behind);
  } else {
    job.id = {joined[0][0].as<std::int64_t>()};
    job.index = index.id;
    job.kind = JobKind::kFanOut;
    job.reason = joined[0][1].c_str();
    job.behind = behind;
  }
  for (const CapturedChange& change : changes) {
    transaction_.run(kAddingFanOut, postgres_sql("add_job_change"), job.id.value, change.capture.value,
                     array_literal(change.values));
  }
  return job;
}

std::optional<JobId> PostgresJobs::fan_out_ahead(IndexId index, const std::vector<CapturedChange>& changes,
                                                 std::optional<JobId> being_expanded) {
  std::optional<JobId> ahead;
  for (const CapturedChange& change : changes) {
    if (change.values.size() > kComparedValues) continue;
    const pqxx::result found = transaction_.run(
        kAddingFanOut, postgres_sql("fan_out_with_keys"), index.value, value_of(being_expanded),
        change.capture.value, array_literal(change.values), static_cast<std::int64_t>(kComparedValues));
    if (found[0][0].is_null()) continue;
    ahead = std::max(ahead.value_or(JobId{}), JobId{found[0][0].as<std::int64_t>()});
  }
  return ahead;
}

Job PostgresJobs::add_large_transaction(const PostgresIndex& index,
                                        const PostgresLargeTransaction& transaction) {
  Job job = insert(index.id, JobKind::kFanOut, "a transaction of many changes");
  job.keeps_rows = true;
  transaction_.run(kAddingFanOut,
                   "update {schema}.job set transaction = $2::xid8, read_to = $3 where id = $1", job.id.value,
                   std::to_string(transaction.txid), transaction.after);
  return job;
}

bool PostgresJobs::expand(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job,
                          FanOutList& list) {
  const pqxx::result known = transaction_.run(
      kExpanding, "select total, transaction::text, read_to from {schema}.job where id = $1 for update",
      job.value);
  if (known.empty()) return true;
  if (!known[0][0].is_null()) {
    list.documents = known[0][0].as<std::int64_t>();
    return true;
  }
  if (!known[0][1].is_null()) {
    return list_of_transaction(
        pipeline, index, job,
        {stored<std::uint64_t>(known[0][1], kTable), stored<std::int64_t>(known[0][2], kTable)}, list);
  }
  list.documents = list_of_changes(index, job);
  set_total(job, list.documents);
  return true;
}

std::int64_t PostgresJobs::list_of_changes(const PostgresIndex& index, JobId job) {
  std::vector<CapturedChange> changes;
  for (const pqxx::row& row : transaction_.run(
           kExpanding, "select capture, keys::text from {schema}.job_change where job = $1", job.value)) {
    constexpr std::string_view kChanges = "job_change";
    changes.push_back(
        {{stored<int>(row[0], kChanges)}, parse_array(stored<std::string>(row[1], kChanges)), false});
  }
  // In the order in which the resolver finds the ids: it knows which documents lie together.
  const std::string ids = ids_query(transaction_, index, changes);
  return ids.empty() ? 0 : write_list(job, 0, ids);
}

// A document may be in the list twice, in different parts: then it is written twice.
bool PostgresJobs::list_of_transaction(const PostgresPipeline& pipeline, const PostgresIndex& index,
                                       JobId job, const PostgresLargeTransaction& transaction,
                                       FanOutList& list) {
  const TransactionPart part =
      read_transaction(transaction_, pipeline, transaction, kRowsAtOnce, kValuesAtOnce);
  list.unknown_captures.insert(part.changes.unknown_captures.begin(), part.changes.unknown_captures.end());
  const bool any_row = std::any_of(
      part.changes.captured.begin(), part.changes.captured.end(), [&](const CapturedChange& change) {
        return change.everything &&
               std::any_of(index.tracks.begin(), index.tracks.end(),
                           [&](const PostgresTrack& track) { return track.capture == change.capture; });
      });
  if (any_row) {
    for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep}) {
      if (std::optional<Job> added = add(index.id, kind, std::string(kEverythingChanged)))
        list.added.push_back(*std::move(added));
    }
  }
  const auto before =
      transaction_
          .run(kExpanding, "select coalesce(max(number), 0) from {schema}.job_page where job = $1",
               job.value)[0][0]
          .as<std::int64_t>();
  const std::string ids = ids_query(transaction_, index, part.changes.captured);
  list.documents = before + (ids.empty() ? 0 : write_list(job, before, ids));
  if (part.changes.more) {
    transaction_.run(kExpanding, "update {schema}.job set read_to = $2 where id = $1", job.value,
                     part.last_id);
    return false;
  }
  set_total(job, list.documents);
  return true;
}

std::optional<Job> PostgresJobs::add_listed(IndexId index, const std::string& ids_query,
                                            const std::string& reason) {
  Job fan_out = insert(index, JobKind::kFanOut, reason);
  fan_out.total = write_list(fan_out.id, 0, ids_query);
  if (fan_out.total == 0) {
    transaction_.run(kAdding, "delete from {schema}.job where id = $1", fan_out.id.value);
    return std::nullopt;
  }
  set_total(fan_out.id, *fan_out.total);
  return fan_out;
}

std::optional<Job> PostgresJobs::add_rendering(IndexId index, const DocumentIds& ids,
                                               const std::string& reason) {
  return add_listed(index, "select unnest(" + transaction_.quote(ids_literal(ids)) + "::text[]) as k",
                    reason);
}

std::vector<Job> PostgresJobs::add_repair(const PostgresIndex& index,
                                          const std::vector<FoundDocument>& documents,
                                          const std::string& reason) {
  DocumentIds all_ids;
  std::vector<std::string> all_routings;
  for (const FoundDocument& document : documents) {
    all_ids.push_back(document.id);
    all_routings.push_back(document.routing);
  }
  const std::string ids = ids_literal(all_ids);
  const std::string routings = array_literal(all_routings);
  // A fan-out renders by _id. It reaches no text that is no value of the _id's type and, where the view has
  // no routing, no document under one; a sweep deletes those.
  const std::string repairable =
      castable_id(index, "f.id") + " is not null" + (index.routed ? "" : " and f.routing = ''");
  const auto filled = [&](std::string_view name) {
    return fill_placeholders(postgres_sql(name),
                             {{"schema", transaction_.session().schema()}, {"repairable", repairable}});
  };
  std::vector<Job> jobs;
  const std::string repairable_ids =
      fill_placeholders(postgres_sql("repairable_documents"), {{"ids", transaction_.quote(ids)},
                                                               {"routings", transaction_.quote(routings)},
                                                               {"repairable", repairable}});
  if (std::optional<Job> fan_out = add_listed(index.id, repairable_ids, reason))
    jobs.push_back(*std::move(fan_out));
  if (index.routed) {
    transaction_.run_filled(kAdding, filled("add_found_routes"), index.id.value, ids, routings);
  }
  const pqxx::result beyond_reach =
      transaction_.run_filled(kAdding, filled("find_unrepairable"), ids, routings);
  if (!beyond_reach.empty()) jobs.push_back(insert(index.id, JobKind::kSweep, reason));
  return jobs;
}

void PostgresJobs::begin(JobId job) {
  transaction_.run(Doing("beginning a job"),
                   "update {schema}.job set position = '' where id = $1 and position is null", job.value);
}

FanOutPage PostgresJobs::page(JobId job, const JobPosition& after, std::int64_t limit) {
  const std::int64_t behind = number_of(after);
  const pqxx::result read = transaction_.run(Doing("reading the list of a large change"),
                                             postgres_sql("read_job_page"), job.value, behind, limit);
  FanOutPage page;
  page.position = AfterNumber{behind};
  page.end = read.empty() || read[0][2].as<bool>();
  if (read.empty()) return page;
  for (std::string& id : parse_array({read[0][0].c_str(), read[0][0].size()})) {
    page.ids.push_back({std::move(id)});
  }
  page.position = AfterNumber{read[0][1].as<std::int64_t>()};
  return page;
}

void PostgresJobs::save(const JobProgress& progress) {
  const Doing doing("saving the jobs");
  if (progress.kind == JobKind::kFanOut) {
    // Page by page, so that the end of a large job is not one large delete.
    transaction_.run(doing, "delete from {schema}.job_page where job = $1 and number <= $2::bigint",
                     progress.job.value, number_of(progress.position));
  }
  if (progress.finished) {
    transaction_.run(doing, "delete from {schema}.job where id = $1", progress.job.value);
    return;
  }
  // A job with progress has begun, whatever its position.
  transaction_.run(
      doing,
      "update {schema}.job set position = $2, done = done + $3, total = coalesce($4, total) where id = $1",
      progress.job.value, to_text(progress.position).value_or(""), progress.done_documents, progress.total);
}

}  // namespace lockstep
