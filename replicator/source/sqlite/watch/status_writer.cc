#include "replicator/source/sqlite/watch/status_writer.h"

#include <unistd.h>

#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/source/sqlite/watch/status_file.h"

namespace lockstep {
namespace {

constexpr const char* kPublishing = "publishing the status";

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string time_now(SqliteConnection& connection) {
  SqliteStatement row(connection, kPublishing, "select strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')");
  row.step();
  return std::string(row[0].text());
}

}  // namespace

SqliteStatusWriter::SqliteStatusWriter(const Config& config)
    : connection_(config.source),
      pipeline_name_(config.pipeline),
      pipeline_(require_applied(connection_, config.pipeline).id),
      opened_at_(time_now(connection_)),
      lead_(connection_.file(), LockPurpose::kLead, pipeline_) {}

void SqliteStatusWriter::publish(const PublishedStatus& status) {
  SqliteReport report;
  report.leader = {status.state, status.reason,  host_name(), static_cast<int>(getpid()), opened_at_,
                   {},           status.document};
  const SqliteSnapshot snapshot(connection_, kPublishing);
  SqliteStatement row(connection_, kPublishing, "select last_id from {schema}_checkpoint where pipeline = ?1",
                      pipeline_);
  const std::int64_t newest = newest_outbox_id(connection_);
  if (row.step() && !row[0].is_null()) {
    const std::int64_t passed = row[0].integer();
    const SteadyTime now = std::chrono::steady_clock::now();
    first_seen_.forget(passed);
    if (newest > passed) {
      first_seen_.note(newest, now);
      report.pending_age =
          std::chrono::duration_cast<std::chrono::milliseconds>(first_seen_.age(passed + 1, now));
    }
  }
  write_report(connection_.file().status(pipeline_name_), report);
}

bool SqliteStatusWriter::is_led() {
  return lead_.is_held_elsewhere();
}

}  // namespace lockstep
