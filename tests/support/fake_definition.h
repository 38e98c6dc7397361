// `apply` in the database in memory: which indices a pipeline has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/source_definition.h"
#include "tests/support/fake_database.h"

namespace lockstep::fake {

/// The definition of an index is what AppliedIndex has of it: view, routing, captures. That of one that is
/// applied does not change.
class FakeDefinition final : public SourceDefinition {
 public:
  /// `wanted`: the indices as the configuration has them. The database must outlive this.
  FakeDefinition(Database& database, std::vector<AppliedIndex> wanted)
      : database_(database), wanted_(std::move(wanted)) {}

  std::string server() override { return "memory"; }
  std::string user() override { return {}; }
  std::vector<Finding> check() override { return {}; }
  std::map<std::string, std::vector<std::string>> document_fields() override { return {}; }
  std::string identity() override { return database_.pipeline().identity; }
  std::vector<std::string> applied_aliases() override;
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override { return {}; }
  std::vector<std::string> redefined_aliases() override { return {}; }
  std::vector<std::string> altered_aliases() override { return {}; }
  bool start_reindex(const WantedReindex& wanted, const Progress& progress) override;
  void drop_unneeded(const Progress& /*progress*/) override {}
  void refill(const std::vector<std::string>& aliases, const std::string& reason) override;
  void note_filled(std::set<std::string> aliases) override { filled_ = std::move(aliases); }
  std::vector<PlanStep> plan() override;
  void apply(const Progress& progress) override;
  std::vector<PlanStep> removal_plan() override { return {}; }
  void remove(const Progress& /*progress*/) override {}
  std::vector<std::string> privileges_for(const std::string& /*user*/) override { return {}; }

 private:
  Database& database_;
  const std::vector<AppliedIndex> wanted_;
  std::set<std::string> filled_;
};

}  // namespace lockstep::fake
