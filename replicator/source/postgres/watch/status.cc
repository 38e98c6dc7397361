#include "replicator/source/postgres/watch/status.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/unknown_value.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

std::chrono::milliseconds duration_of(const nlohmann::json& seconds) {
  // Below 0 when the server's clock was put back meanwhile.
  return std::chrono::milliseconds(std::llround(std::max(0.0, seconds.get<double>()) * 1'000));
}

// The value of a column of `table` in a row of it, which a column that is never null must have.
template <typename Value>
Value stored_at(const nlohmann::json& row, const char* column, std::string_view table) {
  const nlohmann::json& value = row.at(column);
  if (value.is_null()) throw null_column(table, column);
  return value.get<Value>();
}

std::optional<std::string> text_at(const nlohmann::json& row, const char* column) {
  const nlohmann::json& value = row.at(column);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
}

LeaderReport leader_of(const nlohmann::json& json) {
  constexpr std::string_view kTable = "pipeline_status";
  LeaderReport leader;
  leader.state = stored_at<std::string>(json, "state", kTable);
  leader.reason = stored_at<std::string>(json, "reason", kTable);
  leader.host = stored_at<std::string>(json, "host", kTable);
  leader.pid = stored_at<int>(json, "pid", kTable);
  leader.started_at = stored_at<std::string>(json, "started_at", kTable);
  stored_at<std::string>(json, "beat_at", kTable);
  leader.age = duration_of(json.at("age"));
  leader.document = stored_at<nlohmann::json>(json, "document", kTable).dump();
  return leader;
}

void read_job(const nlohmann::json& json, IndexStatus::Job& job) {
  constexpr std::string_view kTable = "job";
  job_position(text_at(json, "position"), job_kind(text_at(json, "kind"), job.id), job.id);
  if (!json.at("total").is_null()) job.total = json.at("total").get<std::int64_t>();
  job.reason = stored_at<std::string>(json, "reason", kTable);
  job.done = stored_at<std::int64_t>(json, "done", kTable);
  stored_at<std::string>(json, "created_at", kTable);
}

IndexStatus::Job job_of(const nlohmann::json& json) {
  IndexStatus::Job job;
  job.id = JobId{json.at("id")};
  job.kind = text_at(json, "kind").value_or("");
  job.reason = text_at(json, "reason").value_or("");
  try {
    read_job(json, job);
  } catch (const Error& error) {
    job.unreadable = error.what();
  }
  return job;
}

IndexStatus index_of(const nlohmann::json& json) {
  constexpr std::string_view kTable = "index";
  IndexStatus index;
  index.id = IndexId{json.at("id")};
  index.alias = stored_at<std::string>(json, "alias", kTable);
  index.view = stored_at<std::string>(json, "view", kTable);
  for (const nlohmann::json& kind : json.at("refused")) {
    index.refused.push_back({stored_at<std::string>(kind, "error", "dead_letter"), kind.at("documents")});
    index.dead_letters += index.refused.back().documents;
  }
  if (!json.at("set_aside").is_null()) index.set_aside = json.at("set_aside").get<std::string>();
  for (const nlohmann::json& job : json.at("jobs")) index.jobs.push_back(job_of(job));
  if (const nlohmann::json& due = json.at("due"); !due.is_null()) {
    index.due = DueList{.index = index.id, .documents = due.at("documents"), .changes = due.at("changes")};
    index.due->oldest_age = duration_of(due.at("age"));
    index.due->reason = due.at("reason");
  }
  return index;
}

ReindexStatus reindex_of(const nlohmann::json& json) {
  ReindexStatus reindex = {
      json.at("alias"),  json.at("state"),  json.at("live"),    json.at("beside"),
      json.at("wanted"), json.at("reason"), json.at("failure"), duration_of(json.at("keep"))};
  if (!json.at("max_rate").is_null()) reindex.max_rate = json.at("max_rate").get<std::int64_t>();
  return reindex;
}

PipelineStatus status_of(const nlohmann::json& json) {
  const nlohmann::json& checkpoint = json.at("checkpoint");
  constexpr std::string_view kCheckpoint = "checkpoint";
  PipelineStatus status;
  status.identity = stored_at<std::string>(json, "identity", "pipeline");
  status.epoch = Epoch{stored_at<std::int64_t>(checkpoint, "epoch", kCheckpoint)};
  stored_at<nlohmann::json>(checkpoint, "prev", kCheckpoint);
  stored_at<nlohmann::json>(checkpoint, "last_txid", kCheckpoint);
  stored_at<std::int64_t>(checkpoint, "last_id", kCheckpoint);
  stored_at<std::string>(checkpoint, "written_at", kCheckpoint);
  status.checkpoint_age = duration_of(json.at("checkpoint_age"));
  status.pending_rows = json.at("pending_rows");
  status.pending_age = duration_of(json.at("pending_age"));
  status.outbox_bytes = json.at("outbox_bytes");
  if (!json.at("max_outbox_bytes").is_null())
    status.max_outbox_bytes = json.at("max_outbox_bytes").get<std::int64_t>();
  status.given_up = json.at("given_up");
  if (!json.at("leader").is_null()) status.leader = leader_of(json.at("leader"));
  // A process that cannot become leader cannot write why.
  if (json.at("takes_no_writes").get<bool>())
    status.obstacle = "no process can become leader: default_transaction_read_only is on";
  for (const nlohmann::json& index : json.at("indices")) status.indices.push_back(index_of(index));
  for (const nlohmann::json& reindex : json.at("reindexes")) status.reindexes.push_back(reindex_of(reindex));
  return status;
}

// Those whose role may lead are Lockstep's; one of them does.
std::vector<Standby> standbys_of(PostgresTransaction& transaction, const std::string& pipeline,
                                 const std::vector<LeadHolder>& lead) {
  int leader = 0;
  for (const LeadHolder& holder : lead) leader = holder.is_lockstep ? holder.pid : leader;
  std::vector<Standby> standbys;
  for (const pqxx::row& row :
       transaction.run(postgres_sql("standbys"), "lockstep " + pipeline + " tail", leader)) {
    standbys.push_back({row[0].c_str(), row[1].c_str()});
  }
  return standbys;
}

}  // namespace

PostgresStatus::PostgresStatus(const Config& config)
    : session_(config.source, config.pipeline + " status"),
      schema_name_(config.source.schema),
      pipeline_(config.pipeline) {}

std::optional<PipelineStatus> PostgresStatus::read() {
  PostgresTransaction direct(session_, "reading the status", Isolation::kEachStatement);
  const pqxx::result exists =
      direct.run_once("select to_regclass($1) is not null", session_.schema() + ".pipeline");
  if (!exists[0][0].as<bool>()) return std::nullopt;
  require_migrated(direct, schema_name_);
  const std::string statement = session_.sql(
      fill_placeholders(postgres_sql("read_status"), {{"schema", "{schema}"},
                                                      {"outbox_size", postgres_sql("outbox_size")},
                                                      {"pending_rows", postgres_sql("pending_rows")}}));
  const pqxx::result found = direct.run_once(statement, pipeline_, kMaxPendingRows);
  if (found.empty()) return std::nullopt;
  PipelineStatus status = status_of(nlohmann::json::parse(as_utf8(found[0][0].c_str())));
  for (LeadLock& lock : lead_locks(direct, status.identity)) status.lead.push_back(std::move(lock.holder));
  status.standbys = standbys_of(direct, pipeline_, status.lead);
  return status;
}

}  // namespace lockstep
