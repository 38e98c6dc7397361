// The statements that a batch runs, in the order in which it runs them.
#include "replicator/source/postgres/read/transaction.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/read/routes.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

std::string_view view_of(const pqxx::field& field) {
  return {field.c_str(), field.size()};
}

bool leads_to(const AppliedIndex& index, const CapturedChange& change) {
  return std::any_of(index.tracks.begin(), index.tracks.end(),
                     [&](const AppliedTrack& track) { return track.capture == change.capture; });
}

constexpr std::size_t kIdsForGenericPlan = 50;

}  // namespace

PostgresTransaction::PostgresTransaction(PostgresSession& session, int pipeline, const std::string& captures,
                                         Access access, std::int64_t being_expanded)
    : session_(session), pipeline_(pipeline), captures_(captures), being_expanded_(being_expanded) {
  using ReadWrite = pqxx::transaction<pqxx::repeatable_read>;
  using ReadOnly = pqxx::transaction<pqxx::repeatable_read, pqxx::readwrite_policy::read_only>;
  translating_postgres_errors("opening a transaction", [&] {
    if (access == Access::kReadOnly)
      transaction_ = std::make_unique<ReadOnly>(session_.connection());
    else
      transaction_ = std::make_unique<ReadWrite>(session_.connection());
  });
}

template <typename... Parameters>
pqxx::result PostgresTransaction::run(const char* doing, const std::string& statement,
                                      const Parameters&... parameters) {
  pqxx::result result;
  translating_postgres_errors(
      doing, [&] { result = transaction_->exec_prepared(session_.prepared(statement), parameters...); });
  return result;
}

// --- reading ---

Changes PostgresTransaction::read_changes(const Position& from, std::int64_t max_values) {
  PostgresPosition at = PostgresPosition::from(from);
  if (at.cur.empty()) {
    const pqxx::result opened =
        run("opening a batch", "select pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text");
    at.cur = opened[0][0].c_str();
    seen_wal_ = opened[0][1].c_str();
    at.last_txid = 0;
    at.last_id = 0;
  }
  const PostgresSnapshot prev(at.prev);
  const PostgresSnapshot cur(at.cur);

  // Transactions that were running when the last batch was opened and have ended since: few, and each is
  // looked up on its own, because one query over them all makes the planner walk the whole outbox.
  const std::string columns =
      "select txid, id, capture, keys, at from " + session_.schema() + ".outbox where ";
  // A limit that the planner does not know makes it expect few of the rows, and walk the index in order.
  // Where it expects no more rows than the limit (fresh leaves have no statistics) it reads all and sorts
  // them.
  const std::string in_order = " order by txid, id limit (select $1::bigint)";
  // Both lower bounds name one place: PostgreSQL takes either to enter the index, and would walk over all
  // that was consumed if it were a lesser one. Without txid >= … it expects many rows, and sorts them.
  const bool begun = at.last_txid >= prev.xmax();
  const std::uint64_t first_txid = begun ? at.last_txid : prev.xmax();
  const std::int64_t before_first_id = begun ? at.last_id : 0;
  const std::string range =
      columns +
      "txid >= $4::xid8 and txid < $6::xid8 and (txid, id) > ($4::xid8, $5::bigint) and "
      "pg_visible_in_snapshot(txid, $7::pg_snapshot)" +
      in_order;
  std::string late;
  for (const std::uint64_t txid : prev.finished_in(cur)) {
    if (txid < at.last_txid) continue;
    const std::string after = txid == at.last_txid ? std::to_string(at.last_id) : "0";
    late +=
        "(" + columns + "txid = '" + std::to_string(txid) + "' and id > " + after + in_order + ") union all ";
  }
  const std::string rows = late.empty() ? range : late + "(" + range + ")" + in_order;
  const std::string statement = fill_placeholders(postgres_sql("read_rows"), {{"rows", rows}});

  pqxx::result result;
  translating_postgres_errors("reading the outbox", [&] {
    const auto read = [&](const auto& execute) {
      return execute(max_values, max_values, captures_, std::to_string(first_txid), before_first_id,
                     std::to_string(cur.xmax()), at.cur);
    };
    result = read([&](const auto&... p) {
      return late.empty() ? transaction_->exec_prepared(session_.prepared(statement), p...)
                          : transaction_->exec_params(statement, p...);
    });
  });

  Changes changes;
  for (const pqxx::row& row : result) {
    if (!row[0].is_null()) {
      changes.captured.push_back(
          {row[0].as<int>(), row[1].is_null() ? Values{} : parse_array(view_of(row[1])), row[2].as<bool>()});
      continue;
    }
    changes.rows = row[3].as<std::int64_t>();
    changes.more = row[7].as<bool>();
    if (changes.rows > 0) {
      at.last_txid = std::stoull(row[4].c_str());
      at.last_id = row[5].as<std::int64_t>();
      changes.oldest_age = std::chrono::microseconds(static_cast<std::int64_t>(row[6].as<double>() * 1e6));
    }
  }
  changes.next = changes.more ? at.to_position() : PostgresPosition{at.cur, "", 0, 0}.to_position();
  return changes;
}

// --- from row values to ids ---

std::optional<Values> PostgresTransaction::resolve(const AppliedIndex& index,
                                                   const std::vector<CapturedChange>& changes,
                                                   std::int64_t limit) {
  std::vector<const CapturedChange*> own;
  bool values_are_ids = true;
  for (const CapturedChange& change : changes) {
    if (!leads_to(index, change)) continue;
    own.push_back(&change);
    for (const AppliedTrack& track : index.tracks) {
      if (track.capture == change.capture && !track.resolver.empty()) values_are_ids = false;
    }
  }
  if (own.empty()) return Values{};
  if (values_are_ids && own.size() == 1) {
    if (static_cast<std::int64_t>(own[0]->values.size()) > limit) return std::nullopt;
    return own[0]->values;
  }
  const std::string statement = "select distinct k from (" + ids_query(*transaction_, index, changes) +
                                ") as u(k) where k is not null limit " + std::to_string(limit + 1);
  pqxx::result result;
  reading_view(index, "finding documents", [&] { result = transaction_->exec(statement); });
  if (result.size() > static_cast<std::size_t>(limit)) return std::nullopt;
  Values ids;
  ids.reserve(result.size());
  for (const pqxx::row& row : result) ids.emplace_back(view_of(row[0]));
  return ids;
}

Job PostgresTransaction::add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes) {
  Job job;
  translating_postgres_errors("making a job of a large change",
                              [&] { job = jobs().add_fan_out(index, changes, being_expanded_); });
  return job;
}

// --- from ids to documents ---

namespace {

std::string render_statement(PostgresSession& session, const AppliedIndex& index, std::string_view filter) {
  std::string columns;
  for (const std::string& field : index.fields) {
    if (!columns.empty()) columns += ", ";
    columns += "v." + session.quote_name(field);
  }
  return fill_placeholders(postgres_sql("render_documents"),
                           {{"columns", columns},
                            {"routing", index.routed ? "v._routing::text" : "null::text"},
                            {"view", index.view},
                            {"filter", filter}});
}

RenderedDocument document_of(const pqxx::row& row) {
  RenderedDocument document;
  document.id = view_of(row[0]);
  if (!row[1].is_null()) document.routing = view_of(row[1]);
  if (!row[2].is_null()) document.json = view_of(row[2]);
  return document;
}

}  // namespace

Values PostgresTransaction::render(const AppliedIndex& index, const Values& ids, std::int64_t max_bytes,
                                   std::optional<DocumentVersion> version, const DocumentSink& sink) {
  const std::string statement = render_statement(session_, index, "v._id = any($2::" + index.id_type + "[])");
  const std::string literal = array_literal(ids);
  pqxx::result result;
  reading_view(index, "rendering documents", [&] {
    // A prepared statement's generic plan takes ten ids for granted; many deserve a plan of their own.
    result = ids.size() <= kIdsForGenericPlan
                 ? transaction_->exec_prepared(session_.prepared(statement), max_bytes, literal)
                 : transaction_->exec_params(statement, max_bytes, literal);
  });
  Values left_over;
  translating_postgres_errors("rendering documents", [&] {
    PostgresRoutes routes(*transaction_, session_, index, version);
    routes.load(ids);
    std::unordered_set<std::string_view> absent(ids.begin(), ids.end());
    for (const pqxx::row& row : result) {
      RenderedDocument document = document_of(row);
      absent.erase(document.id);
      if (!row[3].as<bool>()) {
        left_over.emplace_back(document.id);
        continue;
      }
      routes.fill(document);
      sink(document);
    }
    for (const std::string_view id : absent) {
      RenderedDocument document;
      document.id = id;
      routes.fill(document);
      sink(document);
    }
    routes.save();
  });
  return left_over;
}

SourceTransaction::Page PostgresTransaction::render_page(const AppliedIndex& index,
                                                         const std::optional<std::string>& after,
                                                         std::int64_t limit, std::int64_t max_bytes,
                                                         std::optional<DocumentVersion> version,
                                                         const DocumentSink& sink) {
  const std::string page = "v._id is not null" +
                           (after ? " and v._id > $3::" + index.id_type : std::string()) +
                           " order by v._id limit $2::bigint";
  const std::string statement = render_statement(session_, index, page);
  pqxx::result result;
  reading_view(index, "rendering a page", [&] {  // planned anew for each page, as in render()
    result = after ? transaction_->exec_params(statement, max_bytes, limit, *after)
                   : transaction_->exec_params(statement, max_bytes, limit);
  });
  Page rendered;
  rendered.end = static_cast<std::int64_t>(result.size()) < limit;
  translating_postgres_errors("rendering a page", [&] {
    PostgresRoutes routes(*transaction_, session_, index, version);
    Values ids;
    if (index.routed) {
      for (const pqxx::row& row : result) ids.emplace_back(view_of(row[0]));
    }
    routes.load(ids);
    for (const pqxx::row& row : result) {
      if (!row[3].as<bool>()) {
        rendered.end = false;
        break;
      }
      RenderedDocument document = document_of(row);
      rendered.last = std::string(document.id);
      routes.fill(document);
      sink(document);
    }
    routes.save();
  });
  return rendered;
}

std::vector<StaleDocument> PostgresTransaction::stale(const AppliedIndex& index,
                                                      const std::vector<FoundDocument>& found) {
  const std::string statement = fill_placeholders(
      postgres_sql("find_stale"), {{"key", castable_id(index, "f.id")},
                                   {"type", castable_type(index)},
                                   {"routing", index.routed ? "coalesce(v._routing::text, '')" : "''"},
                                   {"view", index.view}});
  Values ids;
  Values routings;
  for (const FoundDocument& document : found) {
    ids.push_back(document.id);
    routings.push_back(document.routing);
  }
  std::vector<StaleDocument> gone;
  reading_view(index, "looking for documents that the view does not have", [&] {
    for (const pqxx::row& row :
         transaction_->exec_params(statement, array_literal(ids), array_literal(routings))) {
      gone.push_back({{row[0].c_str(), row[1].c_str()}, row[2].as<bool>()});
    }
  });
  return gone;
}

// --- jobs and the checkpoint ---

SourceTransaction::JobPage PostgresTransaction::job_page(const Job& job,
                                                         const std::optional<std::string>& after,
                                                         std::int64_t limit) {
  JobPage page;
  translating_postgres_errors("reading a job", [&] { page = jobs().page(job, after, limit); });
  return page;
}

std::optional<Job> PostgresTransaction::add_job(int index, JobKind kind, const std::string& reason) {
  std::optional<Job> job;
  translating_postgres_errors("adding a job", [&] { job = jobs().add(index, kind, reason); });
  return job;
}

std::vector<Job> PostgresTransaction::add_repair(const AppliedIndex& index,
                                                 const std::vector<FoundDocument>& documents,
                                                 const std::string& reason) {
  std::vector<Job> added;
  translating_postgres_errors("adding a job", [&] { added = jobs().add_repair(index, documents, reason); });
  return added;
}

void PostgresTransaction::give_up_changes() {
  const std::string schema = session_.schema();
  run("giving up the changes of another database",
      "delete from " + schema + ".outbox where capture = any($1::integer[])", captures_);
  run("giving up the changes of another database",
      "update " + schema +
          ".checkpoint set prev = pg_current_snapshot(), cur = null, last_txid = '0', last_id = 0 where "
          "pipeline = $1",
      pipeline_);
}

void PostgresTransaction::set_aside(int index, const std::string& reason) {
  const std::string schema = session_.schema();
  run("setting an index aside",
      "insert into " + schema + ".set_aside (index, reason) values ($1, $2) on conflict (index) do nothing",
      index, reason);
  run("setting an index aside",
      "delete from " + schema + ".job where index = $1 and kind in ('comparison', 'sweep')", index);
}

void PostgresTransaction::take_back(int index) {
  run("taking an index back", "delete from " + session_.schema() + ".set_aside where index = $1", index);
}

void PostgresTransaction::begin_job(std::int64_t job) {
  translating_postgres_errors("beginning a job", [&] { jobs().begin(job); });
}

Position PostgresTransaction::place() {
  const pqxx::result row = run("asking what is visible", "select pg_current_snapshot()::text");
  return PostgresPosition{row[0][0].c_str(), "", 0, 0}.to_position();
}

std::vector<std::size_t> PostgresTransaction::save(Epoch epoch, const Acknowledged& acknowledged) {
  save_position(epoch, acknowledged.position);
  translating_postgres_errors("saving the jobs", [&] {
    for (const JobProgress& progress : acknowledged.jobs) jobs().save(progress);
  });
  std::vector<std::size_t> fresh = save_dead_letters(acknowledged);
  forget_routes(acknowledged.gone_routes);
  return fresh;
}

void PostgresTransaction::save_position(Epoch epoch, const std::optional<Position>& position) {
  // Written even when the position stands still: the synchronous commit of this row is what makes everything
  // that the snapshot saw durable before Elasticsearch is shown it (S4).
  pqxx::result result;
  translating_postgres_errors("saving the checkpoint", [&] {
    try {
      if (position) {
        const PostgresPosition at = PostgresPosition::from(*position);
        const std::string statement = session_.sql(
            "update {schema}.checkpoint set prev = $3::pg_snapshot, cur = nullif($4::text, '')::pg_snapshot, "
            "last_txid = $5::xid8, last_id = $6, written_at = clock_timestamp() where pipeline = $1 and "
            "epoch = $2");
        result = transaction_->exec_prepared(session_.prepared(statement), pipeline_, epoch.value, at.prev,
                                             at.cur, std::to_string(at.last_txid), at.last_id);
      } else {
        const std::string statement = session_.sql(
            "update {schema}.checkpoint set written_at = clock_timestamp() where pipeline = $1 and epoch = "
            "$2");
        result = transaction_->exec_prepared(session_.prepared(statement), pipeline_, epoch.value);
      }
    } catch (const pqxx::serialization_failure&) {
      throw Deposed("another process has taken the lead of the pipeline");
    }
  });
  if (result.affected_rows() == 0) throw Deposed("another process has taken the lead of the pipeline");
}

std::vector<std::size_t> PostgresTransaction::save_dead_letters(const Acknowledged& acknowledged) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < acknowledged.refused.size(); ++i) {
    const DeadLetter& letter = acknowledged.refused[i];
    const pqxx::result saved =
        run("saving a dead letter", session_.sql(postgres_sql("save_dead_letter")), letter.index, letter.id,
            letter.routing, letter.version.value(), letter.status, letter.error_type, letter.reason);
    if (saved[0][0].as<bool>()) fresh.push_back(i);
  }
  // After the refusals: a document that was refused and then applied is in both lists.
  if (acknowledged.no_longer_refused.empty()) return fresh;
  Values indices;
  Values ids;
  Values versions;
  for (const AcknowledgedWrite& write : acknowledged.no_longer_refused) {
    indices.push_back(std::to_string(write.index));
    ids.push_back(write.id);
    versions.push_back(std::to_string(write.version.value()));
  }
  run("clearing dead letters", session_.sql(postgres_sql("clear_dead_letters")), array_literal(indices),
      array_literal(ids), array_literal(versions));
  return fresh;
}

void PostgresTransaction::forget_routes(const std::vector<AcknowledgedWrite>& gone) {
  for (const AcknowledgedWrite& write : gone) {
    run("forgetting a routing",
        session_.sql(
            "delete from {schema}.route where index = $1 and id = $2 and routing = $3 and version <= $4"),
        write.index, write.id, write.routing, write.version.value());
  }
}

bool PostgresTransaction::may_be_shown(Epoch epoch) {
  const pqxx::result row =
      run("asking what is durable", session_.sql(postgres_sql("may_be_shown")), pipeline_, seen_wal_);
  if (row.empty() || row[0][0].as<std::int64_t>() != epoch.value)
    throw Deposed("another process has taken the lead of the pipeline");
  return row[0][1].as<bool>();
}

void PostgresTransaction::commit() {
  translating_postgres_errors("committing the checkpoint", [&] { transaction_->commit(); });
}

}  // namespace lockstep
