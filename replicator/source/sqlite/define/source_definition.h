// Brings a SQLite file in line with a configuration: Lockstep's own tables, the captures, the triggers.
//
// Everything happens in one transaction, so a failure leaves the file as it was, and no statement of the
// application runs between a trigger and the rows that belong to it. Its steps are found out before, for the
// transaction keeps the application from writing.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/source_definition.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteSourceDefinition final : public SourceDefinition {
 public:
  /// REQUIRES: `config` outlives this; the source is SQLite. `patience` is how long it tries to get the
  /// file's write lock.
  explicit SqliteSourceDefinition(const Config& config,
                                  std::chrono::milliseconds patience = std::chrono::minutes(2));

  std::string server() override;
  std::string user() override { return {}; }
  std::vector<Finding> check() override;
  std::map<std::string, std::vector<std::string>> document_fields() override;
  std::string identity() override;
  std::vector<std::string> applied_aliases() override;
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override;
  std::vector<std::string> redefined_aliases() override;
  std::vector<std::string> altered_aliases() override;
  bool start_reindex(const WantedReindex& wanted, const Progress& progress) override;
  void drop_unneeded(const Progress& progress) override;
  void refill(const std::vector<std::string>& aliases, const std::string& reason) override;
  void note_filled(std::set<std::string> aliases) override { filled_ = std::move(aliases); }
  std::vector<PlanStep> plan() override;
  void apply(const Progress& progress) override;
  std::vector<PlanStep> removal_plan() override;
  void remove(const Progress& progress) override;
  std::vector<std::string> privileges_for(const std::string& /*user*/) override { return {}; }

 private:
  struct Draft;
  /// Whose definitions a draft has: those that the configuration wants, or those that are applied.
  enum class Definitions { kWanted, kStored };

  /// As plan(), in the transaction that is open.
  std::vector<PlanStep> plan_all(Draft& draft);
  /// The steps after the migrations, as the open transaction sees it. Throws as plan() does.
  Draft make_draft(Definitions definitions);
  /// Runs it, unless the file has changed meanwhile: then one of the file as it is now. Returns the steps
  /// done. REQUIRES: the write lock.
  std::vector<PlanStep> run_draft(Draft draft);
  /// Runs `body` with the write lock and commits, durably; tries again while another connection has the lock.
  void write(const char* doing, const Progress& progress, const std::function<void()>& body);
  /// Runs a draft's steps, after which writers must still be able to write. REQUIRES: the write lock.
  void run_steps(const char* doing, const Draft& draft);
  void run(const char* doing, const std::vector<PlanStep>& steps);
  /// The first column of the rows. Empty also if Lockstep has no tables.
  std::vector<std::string> ask(std::string_view doing, std::string_view query);

  const Config& config_;
  std::set<std::string> filled_;
  const std::chrono::milliseconds patience_;
  SqliteConnection connection_;
};

}  // namespace lockstep
