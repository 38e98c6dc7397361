#include "replicator/source/postgres/watch/status.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

std::chrono::milliseconds duration_of(const nlohmann::json& seconds) {
  return std::chrono::milliseconds(std::llround(seconds.get<double>() * 1'000));
}

LeaderReport leader_of(const nlohmann::json& json) {
  LeaderReport leader;
  leader.state = json.at("state");
  leader.reason = json.at("reason");
  leader.host = json.at("host");
  leader.pid = json.at("pid");
  leader.started_at = json.at("started_at");
  leader.age = duration_of(json.at("age"));
  leader.document = json.at("document").dump();
  return leader;
}

IndexStatus index_of(const nlohmann::json& json) {
  IndexStatus index;
  index.alias = json.at("alias");
  index.view = json.at("view");
  index.dead_letters = json.at("dead_letters");
  if (!json.at("set_aside").is_null()) index.set_aside = json.at("set_aside");
  for (const nlohmann::json& each : json.at("jobs")) {
    IndexStatus::Job job;
    job.kind = job_kind(each.at("kind").get<std::string>(), JobId{each.at("id")});
    job.reason = each.at("reason");
    job.done = each.at("done");
    if (!each.at("total").is_null()) job.total = each.at("total").get<std::int64_t>();
    job.age = duration_of(each.at("age"));
    index.jobs.push_back(std::move(job));
  }
  return index;
}

PipelineStatus status_of(const nlohmann::json& json) {
  PipelineStatus status;
  status.identity = json.at("identity");
  status.epoch = Epoch{json.at("epoch")};
  status.checkpoint_age = duration_of(json.at("checkpoint_age"));
  status.pending_rows = json.at("pending_rows");
  status.pending_age = duration_of(json.at("pending_age"));
  status.outbox_bytes = json.at("outbox_bytes");
  if (!json.at("max_outbox_bytes").is_null())
    status.max_outbox_bytes = json.at("max_outbox_bytes").get<std::int64_t>();
  status.given_up = json.at("given_up");
  if (!json.at("leader").is_null()) status.leader = leader_of(json.at("leader"));
  for (const nlohmann::json& index : json.at("indices")) status.indices.push_back(index_of(index));
  return status;
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
  const std::string statement = session_.sql(fill_placeholders(
      postgres_sql("read_status"), {{"schema", "{schema}"}, {"outbox_size", postgres_sql("outbox_size")}}));
  const pqxx::result found = direct.run_once(statement, pipeline_, kMaxPendingRows);
  if (found.empty()) return std::nullopt;
  PipelineStatus status = status_of(nlohmann::json::parse(found[0][0].c_str()));
  for (LeadLock& lock : lead_locks(direct, status.identity)) status.lead.push_back(std::move(lock.holder));
  return status;
}

}  // namespace lockstep
