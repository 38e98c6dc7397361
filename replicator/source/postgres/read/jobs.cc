#include "replicator/source/postgres/read/jobs.h"

#include <algorithm>
#include <iterator>

#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr std::string_view kKindNames[] = {"backfill", "comparison", "fan_out", "sweep"};

// Row values of a change that are compared with those of others: of a statement over more rows nobody expects
// that it comes again at once, and comparing takes the product of their numbers.
constexpr std::size_t kComparedKeys = 100;

std::string_view name_of(JobKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

}  // namespace

JobKind job_kind(std::string_view name) {
  const auto* const found = std::find(std::begin(kKindNames), std::end(kKindNames) - 1, name);
  return static_cast<JobKind>(found - std::begin(kKindNames));
}

template <typename... Parameters>
pqxx::result PostgresJobs::run(std::string_view statement, const Parameters&... parameters) {
  return transaction_.exec_prepared(session_.prepared(session_.sql(statement)), parameters...);
}

Job PostgresJobs::insert(int index, JobKind kind, const std::string& reason,
                         std::optional<std::int64_t> behind) {
  Job job;
  job.index = index;
  job.kind = kind;
  job.reason = reason;
  job.behind = behind;
  job.id = run("insert into {schema}.job (pipeline, index, kind, reason, behind) values ($1, $2, $3, $4, $5) "
               "returning id",
               pipeline_, index, std::string(name_of(kind)), reason, behind)[0][0]
               .as<std::int64_t>();
  return job;
}

std::int64_t PostgresJobs::add_documents(std::int64_t job, const std::string& ids_query) {
  const pqxx::result written = transaction_.exec(
      fill_placeholders(postgres_sql("add_job_pages"),
                        {{"schema", session_.schema()}, {"job", std::to_string(job)}, {"ids", ids_query}}));
  return written[0][0].as<std::int64_t>();
}

std::optional<Job> PostgresJobs::add(int index, JobKind kind, const std::string& reason) {
  const pqxx::result waiting =
      run("select 1 from {schema}.job where index = $1 and kind = $2 and position is null limit 1", index,
          std::string(name_of(kind)));
  if (!waiting.empty()) return std::nullopt;
  return insert(index, kind, reason);
}

Job PostgresJobs::add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                              std::int64_t being_expanded) {
  const std::optional<std::int64_t> behind = job_ahead(index.id, changes, being_expanded);
  const pqxx::result joined = run(postgres_sql("join_fan_out"), index.id, behind, being_expanded);
  Job job;
  if (joined.empty()) {
    job = insert(index.id, JobKind::kFanOut, "a change of many documents of " + index.alias, behind);
  } else {
    job.id = joined[0][0].as<std::int64_t>();
    job.index = index.id;
    job.kind = JobKind::kFanOut;
    job.reason = joined[0][1].c_str();
    job.behind = behind;
  }
  for (const CapturedChange& change : changes) {
    run("insert into {schema}.job_change (job, capture, keys) select $1, $2, $3 where not exists "
        "(select 1 from {schema}.job_change as c where c.job = $1 and c.capture = $2 and c.keys = "
        "$3::text[])",
        job.id, change.capture, array_literal(change.values));
  }
  return job;
}

std::optional<std::int64_t> PostgresJobs::job_ahead(int index, const std::vector<CapturedChange>& changes,
                                                    std::int64_t being_expanded) {
  std::optional<std::int64_t> ahead;
  for (const CapturedChange& change : changes) {
    if (change.values.size() > kComparedKeys) continue;
    const pqxx::result found = run(postgres_sql("fan_out_with_keys"), index, being_expanded, change.capture,
                                   array_literal(change.values), static_cast<std::int64_t>(kComparedKeys));
    if (!found[0][0].is_null()) ahead = std::max(ahead.value_or(0), found[0][0].as<std::int64_t>());
  }
  return ahead;
}

std::int64_t PostgresJobs::expand(const AppliedIndex& index, std::int64_t job) {
  const pqxx::result known = run("select total from {schema}.job where id = $1 for update", job);
  if (known.empty()) return 0;
  if (!known[0][0].is_null()) return known[0][0].as<std::int64_t>();
  std::vector<CapturedChange> changes;
  for (const pqxx::row& row : run("select capture, keys::text from {schema}.job_change where job = $1", job))
    changes.push_back({row[0].as<int>(), parse_array({row[1].c_str(), row[1].size()})});
  // In the order in which the resolver finds them: it knows which documents lie together.
  const std::string ids = ids_query(transaction_, index, changes);
  return add_documents(job, ids.empty() ? "select null::text" : ids);
}

std::vector<Job> PostgresJobs::add_repair(const AppliedIndex& index,
                                          const std::vector<FoundDocument>& documents,
                                          const std::string& reason) {
  Values ids;
  Values routings;
  for (const FoundDocument& document : documents) {
    ids.push_back(document.id);
    routings.push_back(document.routing);
  }
  // A fan-out renders by _id, so it reaches neither what is no value of the _id's type nor, where the view
  // has no routing, a document under one; a sweep deletes those.
  const std::string repairable =
      castable_id(index, "f.id") + " is not null" + (index.routed ? "" : " and f.routing = ''");
  const auto filled = [&](std::string_view statement) {
    return fill_placeholders(statement, {{"schema", session_.schema()}, {"repairable", repairable}});
  };
  std::vector<Job> jobs;
  Job fan_out = insert(index.id, JobKind::kFanOut, reason);
  const std::string repairable_ids = fill_placeholders(
      postgres_sql("repairable_documents"), {{"ids", transaction_.quote(array_literal(ids))},
                                             {"routings", transaction_.quote(array_literal(routings))},
                                             {"repairable", repairable}});
  fan_out.total = add_documents(fan_out.id, repairable_ids);
  if (fan_out.total > 0) {
    jobs.push_back(std::move(fan_out));
  } else {
    run("delete from {schema}.job where id = $1", fan_out.id);
  }
  if (index.routed) {
    run(filled(postgres_sql("add_found_routes")), index.id, array_literal(ids), array_literal(routings));
  }
  const pqxx::result beyond_reach =
      run(filled("select 1 from unnest($1::text[], $2::text[]) as f(id, routing) where not ({repairable}) "
                 "limit 1"),
          array_literal(ids), array_literal(routings));
  if (!beyond_reach.empty()) jobs.push_back(insert(index.id, JobKind::kSweep, reason));
  return jobs;
}

void PostgresJobs::begin(std::int64_t job) {
  run("update {schema}.job set position = '' where id = $1 and position is null", job);
}

SourceTransaction::JobPage PostgresJobs::page(const Job& job, const std::optional<std::string>& after,
                                              std::int64_t limit) {
  SourceTransaction::JobPage page;
  page.position = after.value_or("0");
  const pqxx::result read = run(postgres_sql("read_job_page"), job.id, page.position, limit);
  page.end = read.empty() || read[0][2].as<bool>();
  if (read.empty()) return page;
  page.ids = parse_array({read[0][0].c_str(), read[0][0].size()});
  page.position = read[0][1].c_str();
  return page;
}

void PostgresJobs::save(const JobProgress& progress) {
  if (progress.kind == JobKind::kFanOut) {
    // Page by page, so that the end of a large job is not one large delete.
    run("delete from {schema}.job_page where job = $1 and number <= $2::bigint", progress.job,
        progress.position);
  }
  if (progress.finished) {
    run("delete from {schema}.job where id = $1", progress.job);
  } else {
    run("update {schema}.job set position = $2, done = done + $3 where id = $1", progress.job,
        progress.position, progress.done_documents);
  }
}

}  // namespace lockstep
