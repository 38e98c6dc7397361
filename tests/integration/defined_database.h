// A database with a pipeline defined in it by the source's own code: what `plan` and `apply` do there,
// without Elasticsearch, and what the triggers then write.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/session/session.h"
#include "tests/support/postgres_database.h"

namespace lockstep {

class DefinedDatabase {
 public:
  /// Runs `schema` (SQL) in a new database.
  explicit DefinedDatabase(std::string_view schema);

  support::PostgresDatabase& database() { return database_; }
  Config& config() { return config_; }

  /// Adds an index that follows `view` to the configuration; the index stays valid until the next is added.
  IndexConfig& add_index(const std::string& view, const std::vector<TrackConfig>& tracks);

  /// As `role`, or as the superuser. Connects anew each time.
  std::vector<PlanStep> plan();
  void apply(const std::string& role = {});
  void remove();
  /// "create trigger …" and the like, one a step.
  std::vector<std::string> planned();
  /// The faults of the configuration, as plan() reports them; empty: none.
  std::string faults();

  /// What has come into the outbox since the last call, as "table (expression): value value …", values and
  /// lines in order, "everything" for a truncated table. The SQL is run first.
  std::set<std::string> captured_by(std::string_view sql);
  std::set<std::string> captured();
  /// Rows of the outbox since the last call of captured().
  std::int64_t outbox_rows();

  /// The kinds and reasons of the jobs, "backfill: new index", and forgets them.
  std::set<std::string> jobs();

 private:
  PostgresSession session(const std::string& role = {});

  support::PostgresDatabase database_;
  Config config_;
};

/// A track by table, the other keys empty.
TrackConfig track(const std::string& table);
TrackConfig track_by_column(const std::string& table, const std::string& column);
TrackConfig track_by_row(const std::string& table, const std::string& row);
TrackConfig track_by_keys(const std::string& table, const std::string& keys);

using Lines = std::set<std::string>;

}  // namespace lockstep
