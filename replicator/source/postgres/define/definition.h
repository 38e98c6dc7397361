// Brings a PostgreSQL source in line with a configuration: lockstep's own schema, what is captured, the
// triggers.
//
// `plan` says what would be done, `apply` does it, `remove` takes it out again. Apart from the migrations
// everything happens in one transaction, so a failure leaves the database as it was; applied again, nothing
// is left to do.
//
// Triggers come to and go from tables that are in use. PostgreSQL locks such a table against writers for as
// long, and a lock that waits for a long transaction makes all writers wait behind it; so the wait is short,
// and repeated.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/plan.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresDefinition {
 public:
  struct Patience {
    std::chrono::milliseconds lock_timeout{200};  ///< how long writers wait behind us at most, each time
    std::chrono::milliseconds total{120'000};     ///< after this apply gives up
  };

  /// What apply tells while it works; each may be empty.
  struct Progress {
    std::function<void(const PlanStep&)> step;        ///< about to be done
    std::function<void(const std::string&)> waiting;  ///< "waiting for writers of blog.users …"
  };

  /// REQUIRES: `session` and `config` outlive this; the source is PostgreSQL.
  PostgresDefinition(PostgresSession& session, const Config& config);
  PostgresDefinition(PostgresSession& session, const Config& config, Patience patience);

  /// What apply would do, in order; empty: nothing. Changes nothing. Throws UsageError when the configuration
  /// does not fit the database, with one fault a line, or the database was migrated by a newer lockstep.
  std::vector<PlanStep> plan();

  /// Does it. Throws as plan() does, and Error, retryable when a table was in use for too long.
  void apply(const Progress& progress);

  /// What remove would do.
  std::vector<PlanStep> removal_plan();

  /// Takes the pipeline's triggers and functions out, its rows, and with the last pipeline the schema.
  void remove(const Progress& progress);

  /// The GRANT statements that `role` (not quoted) needs for `lockstep run`, and nothing else. Throws
  /// UsageError as plan() does. The statements about the schema fail before the first apply.
  std::vector<std::string> grants(const std::string& role);

 private:
  enum class Ids { kPredicted, kTaken };

  DefinitionPlan make(pqxx::work& transaction, Ids ids);
  std::vector<Migration> pending(pqxx::work& transaction);
  /// Again and again while a table is locked by somebody else, with pauses. `body` commits.
  void patiently(const char* doing, const Progress& progress, const std::function<void(pqxx::work&)>& body);
  void in_one_transaction(const char* doing, const Progress& progress,
                          const std::function<DefinitionPlan(pqxx::work&)>& make_plan);
  void execute(pqxx::work& transaction, const DefinitionPlan& plan, const Progress& progress);
  void try_out(pqxx::work& transaction, const ChangedTable& table);
  int next_id(pqxx::work& transaction, const std::string& table, Ids ids, int already_predicted);

  PostgresSession& session_;
  const Config& config_;
  Patience patience_;
};

}  // namespace lockstep
