// The contract of `check`, `plan`, `apply` and `remove` over one connection to PostgreSQL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

class PostgresSourceDefinition final : public SourceDefinition {
 public:
  /// As open_source_definition().
  explicit PostgresSourceDefinition(const Config& config);

  std::string server() override;
  std::string user() override;
  std::vector<Finding> check() override;
  std::map<std::string, std::vector<std::string>> document_fields() override;
  std::string identity() override;
  std::vector<std::string> applied_aliases() override;
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override {
    return definition_.differences();
  }
  std::vector<std::string> redefined_aliases() override { return definition_.redefined_aliases(); }
  std::vector<std::string> altered_aliases() override { return definition_.altered_aliases(); }
  bool start_reindex(const WantedReindex& wanted, const Progress& progress) override {
    return definition_.start_reindex(wanted, progress);
  }
  void drop_unneeded(const Progress& progress) override { definition_.drop_unneeded(progress); }
  void refill(const std::vector<std::string>& aliases, const std::string& reason) override;
  void note_filled(std::set<std::string> aliases) override { definition_.note_filled(std::move(aliases)); }
  std::vector<PlanStep> plan() override { return definition_.plan(); }
  void apply(const Progress& progress) override { definition_.apply(progress); }
  std::vector<PlanStep> removal_plan() override { return definition_.removal_plan(); }
  void remove(const Progress& progress) override { definition_.remove(progress); }
  std::vector<std::string> privileges_for(const std::string& user) override {
    return definition_.grants(user);
  }

 private:
  std::string value(std::string_view doing, std::string_view query);

  // The first column of a query about the pipeline ($1: its name). Empty before the first apply.
  std::vector<std::string> ask(std::string_view doing, std::string_view query);

  const Config& config_;
  PostgresSession session_;
  PostgresDefinition definition_;
};

}  // namespace lockstep
