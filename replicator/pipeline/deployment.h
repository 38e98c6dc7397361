// Brings both sides of a pipeline in line with its configuration: the source's schema and triggers, and
// Elasticsearch's indices and aliases.
//
// G1. Nothing changes anywhere when an index is refused, or has to be rebuilt.
//
// G2. An alias points to its index before the job that fills the index can run.
//
// G3. An index that has to be recreated is filled again: its job is there before the index is.
//
// G4. A change of how documents are indexed reaches every document: they are written again by a job that
//     begins after the change. Until the source has that job, the index's mark records that it is needed.
//
// G5. An index that is adopted is compared with its view. Until the source has the jobs for that, its mark
//     records it, and only another adoption continues with it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/source/definition.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

struct DeploymentPlan {
  std::vector<PlanStep> steps;     ///< the steps of apply
  std::vector<Finding> obstacles;  ///< obstacles to all of apply
  std::vector<IndexPlan>
      indices;  ///< of the configuration, in its order; `steps` and `obstacles` have them, too

  bool empty() const { return steps.empty() && obstacles.empty(); }
};

/// As differences of an index, which needs a new one for those of another view.
std::vector<MappingDifference> to_mapping_differences(const std::vector<DefinitionDifference>& differences);

/// The fate of the indices when a pipeline is removed.
enum class Indices { kKept, kDeleted };

class Deployment {
 public:
  /// All must outlive this. `adopted`: aliases of indices that others have filled.
  Deployment(const Config& config, SourceDefinition& source, ElasticsearchClient& elasticsearch,
             std::set<std::string> adopted = {});

  /// Changes nothing. Throws UsageError if the configuration does not fit the source, Error if one of the
  /// sides cannot be asked.
  DeploymentPlan plan();

  /// Carries out plan(). Call it again after a failure, and it does the rest. Throws the errors of plan(),
  /// and Error for obstacles.
  void apply(const SourceDefinition::Progress& progress);

  /// Puts the mark back on the index behind an alias of `adopted` that the pipeline follows, and changes
  /// nothing else. The leader then compares the index with its view. Throws Error if the index has a mark, or
  /// another pipeline's, and the errors of plan().
  void take_back(const std::string& alias);

  DeploymentPlan removal_plan(Indices indices);

  /// Deletes the indices first, because the source knows whose they are.
  void remove(Indices indices, const SourceDefinition::Progress& progress);

 private:
  struct PlannedIndex {
    DesiredIndex desired;
    IndexPlan plan;
  };

  std::vector<DesiredIndex> desired(const std::string& identity);
  std::vector<PlannedIndex> plan_indices(std::vector<DesiredIndex> desired);
  DeploymentPlan plan(const std::vector<PlannedIndex>& indices);
  static std::set<std::string> filled(const std::vector<PlannedIndex>& indices);
  std::vector<Finding> lost_in_a_reindex(const std::vector<PlannedIndex>& indices);
  std::vector<Finding> left_in_a_reindex();
  std::vector<std::string> lost_indices(const std::vector<PlannedIndex>& indices);
  void apply_indices(const std::vector<PlannedIndex>& indices,
                     const std::function<void(const PlanStep&)>& told);
  std::vector<IndexState> own_indices(const std::string& identity);

  const Config& config_;
  SourceDefinition& source_;
  ElasticsearchClient& elasticsearch_;
  const std::set<std::string> adopted_;
};

}  // namespace lockstep
