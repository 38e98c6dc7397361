#include "replicator/source/postgres/watch/status_writer.h"

#include <unistd.h>

#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

LockWait::Waiter waiter_of(const std::string& word) {
  if (word == "pages") return LockWait::Waiter::kPages;
  return word == "lists" ? LockWait::Waiter::kLists : LockWait::Waiter::kLoop;
}

}  // namespace

PostgresStatusWriter::PostgresStatusWriter(const Config& config)
    : session_(config.source, config.pipeline + " status"), pipeline_name_(config.pipeline) {
  const pqxx::row row = require_applied(session_, config.source.schema, config.pipeline,
                                        "select id, identity::text, clock_timestamp()::text "
                                        "from {schema}.pipeline where name = $1");
  // Its reports have to be seen while a commit waits for a standby, and may be lost.
  session_.ask("opening the status session", "set synchronous_commit = off");
  pipeline_ = row[0].as<int>();
  identity_ = stored<std::string>(row[1], "pipeline");
  opened_at_ = row[2].c_str();
}

void PostgresStatusWriter::publish(const PublishedStatus& status) {
  session_.ask("publishing the status", postgres_sql("publish_status"), pipeline_, status.state,
               session_.storable(status.reason), host_name(), static_cast<int>(getpid()), opened_at_,
               session_.storable(status.document));
}

bool PostgresStatusWriter::is_led() {
  PostgresTransaction direct(session_, "looking for a leader", Isolation::kEachStatement);
  return lockstep::is_led(lead_locks(direct, identity_));
}

std::vector<LockWait> PostgresStatusWriter::lock_waits() {
  std::vector<LockWait> waits;
  for (const pqxx::row& row :
       session_.ask("asking which sessions block the leader", postgres_sql("lock_waits"),
                    "lockstep " + pipeline_name_ + " tail")) {
    waits.push_back(
        {waiter_of(row[0].c_str()), row[1].c_str(), row[2].as<int>(), row[3].c_str(), row[4].c_str()});
  }
  return waits;
}

}  // namespace lockstep
