// Brings a PostgreSQL source in line with a configuration: Lockstep's own schema, the captures, the triggers.
//
// `plan` shows the steps, `apply` takes them, `remove` undoes it. Apart from the migrations everything
// happens in one transaction, so a failure leaves the database as it was. A second `apply` finds nothing to
// do.
//
// Tables are in use while their triggers come and go. PostgreSQL locks such a table against writers until the
// transaction ends. A lock that waits for a long transaction makes all writers wait behind it. So each wait
// is short, and `apply` tries again.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/plan.h"
#include "replicator/source/postgres/define/trust.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

class PostgresDefinition {
 public:
  struct Patience {
    std::chrono::milliseconds lock_timeout{200};  ///< how long writers wait behind each try at most
    std::chrono::milliseconds total{120'000};     ///< how long apply tries
  };
  using Progress = SourceDefinition::Progress;

  /// REQUIRES: `session` and `config` outlive this; the source is PostgreSQL.
  PostgresDefinition(PostgresSession& session, const Config& config);
  PostgresDefinition(PostgresSession& session, const Config& config, Patience patience);

  /// As SourceDefinition's.
  void note_filled(std::set<std::string> aliases) { filled_ = std::move(aliases); }

  /// As SourceDefinition::plan(). Throws UsageError also if a newer Lockstep has migrated the database.
  std::vector<PlanStep> plan();

  /// As SourceDefinition::apply(). The Error is retryable if a table was in use for too long.
  void apply(const Progress& progress);

  /// As SourceDefinition's.
  std::map<std::string, std::vector<DefinitionDifference>> differences();
  std::vector<std::string> redefined_aliases();
  std::vector<std::string> altered_aliases();
  bool start_reindex(const WantedReindex& wanted, const Progress& progress);
  void drop_unneeded(const Progress& progress);

  /// The steps of remove(), in order.
  std::vector<PlanStep> removal_plan();

  /// Removes the pipeline's triggers, functions and rows, and with the last pipeline the schema.
  void remove(const Progress& progress);

  /// The GRANT statements that `role` (not quoted) needs for `lockstep run`, and nothing else; none while the
  /// schema is still to be handed over. Throws UsageError as plan() does. Before the first apply the
  /// statements about Lockstep's schema fail.
  std::vector<std::string> grants(const std::string& role);

 private:
  enum class Ids { kPredicted, kTaken };
  /// Whose definitions a design has: those that the configuration wants, or those that are applied.
  enum class Definitions { kWanted, kStored };

  /// The steps of a session with more rights than the tables' owner: all that it may do. Throws UsageError if
  /// there are none for it. Empty: it has no more rights.
  std::vector<PlanStep> to_hand_over(PostgresTransaction& transaction);
  std::vector<LentRight> lent_to_generations(PostgresTransaction& transaction);
  void require_handed_over(PostgresTransaction& transaction);
  void give_schema_away(const Progress& progress);
  AppliedObjects applied(PostgresTransaction& transaction);
  /// The design of a configuration without faults.
  PipelineDesign sound_design(PostgresTransaction& transaction, Definitions definitions);
  DefinitionPlan make(PostgresTransaction& transaction, const PipelineDesign& design, Ids ids);
  /// Its plan, after which the leader loads the pipeline again. Empty: there is nothing to do.
  DefinitionPlan make_and_reload(PostgresTransaction& transaction, Definitions definitions);
  DefinitionPlan make_removal(PostgresTransaction& transaction);
  std::vector<Migration> pending(PostgresTransaction& transaction);
  PlanStep step_of(const Migration& migration) const;
  /// Runs `body` in a transaction, again and again while another session locks a table. `body` commits.
  void patiently(const char* doing, const Progress& progress,
                 const std::function<void(PostgresTransaction&)>& body);
  /// Attempts it again and again while another session locks a table.
  void retried(const char* doing, const Progress& progress, const std::function<void()>& attempt);
  /// Makes a plan and executes it, in one transaction.
  void carry_out(const char* doing, const Progress& progress,
                 const std::function<DefinitionPlan(PostgresTransaction&)>& make_plan);
  int next_id(PostgresTransaction& transaction, const std::string& table, Ids ids, int already_predicted);

  PostgresSession& session_;
  const Config& config_;
  Patience patience_;
  std::set<std::string> filled_;
};

}  // namespace lockstep
