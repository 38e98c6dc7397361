#include "replicator/pipeline/deployment.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"

namespace lockstep {
namespace {

PlanStep refill_step(const std::string& alias, const std::string& why) {
  return {PlanStep::Action::kCreate, "backfill of " + alias, why, ""};
}

constexpr const char* kLost = "the index was recreated";

std::string reason_to_rewrite(const IndexPlan& plan) {
  return "the mapping has changed for documents written later: " + plan.unwritten;
}

std::vector<PlanStep> steps_of(const IndexPlan& plan) {
  if (plan.kind == IndexPlan::Kind::kCreate) {
    return {{PlanStep::Action::kCreate, "index " + plan.index + " with alias " + plan.alias, "", ""}};
  }
  std::vector<PlanStep> steps;
  if (plan.kind == IndexPlan::Kind::kUpdate) {
    for (const std::string& change : plan.changes) {
      steps.push_back({PlanStep::Action::kChange, "index " + plan.index, change, ""});
    }
    if (!plan.unwritten.empty()) steps.push_back(refill_step(plan.alias, reason_to_rewrite(plan)));
  }
  if (plan.kind == IndexPlan::Kind::kAdopt) {
    for (const std::string& change : plan.changes)
      steps.push_back({PlanStep::Action::kChange, "index " + plan.index, change, ""});
  }
  return steps;
}

std::optional<Finding> obstacle_of(const IndexPlan& plan) {
  if (plan.kind != IndexPlan::Kind::kRefuse && plan.kind != IndexPlan::Kind::kReindex) return std::nullopt;
  return Finding{Finding::Severity::kError, "index " + plan.alias, plan.problem, plan.remedy};
}

void refuse(const std::vector<Finding>& obstacles) {
  if (obstacles.empty()) return;
  std::string message;
  for (const Finding& obstacle : obstacles) message += (message.empty() ? "" : "\n") + to_line(obstacle);
  throw Error({"applying the configuration", message, "nothing has been changed"});
}

// A mark that cannot be read, say, hides nothing about the other indices.
IndexPlan plan_or_refusal(ElasticsearchClient& elasticsearch, const DesiredIndex& desired) {
  try {
    return plan_index(elasticsearch, desired);
  } catch (const Error& error) {
    if (error.retryable() || error.parts().server != Server::kNone) throw;
    IndexPlan plan;
    plan.kind = IndexPlan::Kind::kRefuse;
    plan.alias = desired.alias;
    plan.problem = error.parts().doing + ": " + error.parts().cause;
    plan.remedy = error.parts().remedy;
    return plan;
  }
}

void tell(const std::function<void(const PlanStep&)>& told, const PlanStep& step) {
  if (told) told(step);
}

bool has_generation_beside(const std::string& alias, const std::vector<std::string>& applied) {
  return std::any_of(applied.begin(), applied.end(),
                     [&](const std::string& name) { return generation_number(alias, name) > 0; });
}

}  // namespace

std::vector<MappingDifference> to_mapping_differences(const std::vector<DefinitionDifference>& differences) {
  std::vector<MappingDifference> found;
  for (const DefinitionDifference& difference : differences) {
    MappingDifference& each = found.emplace_back();
    each.place = difference.place;
    each.is = difference.is;
    each.wanted = difference.wanted;
    each.way = difference.way == DefinitionDifference::Way::kNewIndex ? MappingDifference::Way::kNewIndex
                                                                      : MappingDifference::Way::kInPlace;
    each.reach = MappingDifference::Reach::kLaterWrites;
  }
  return found;
}

Deployment::Deployment(const Config& config, SourceDefinition& source, ElasticsearchClient& elasticsearch,
                       std::set<std::string> adopted)
    : config_(config), source_(source), elasticsearch_(elasticsearch), adopted_(std::move(adopted)) {}

DeploymentPlan Deployment::plan() {
  return plan(plan_indices(desired(source_.identity())));
}

DeploymentPlan Deployment::plan(const std::vector<PlannedIndex>& indices) {
  DeploymentPlan plan;
  source_.note_filled(filled(indices));
  plan.steps = source_.plan();
  for (const std::string& alias : lost_indices(indices))
    plan.steps.push_back(refill_step(alias, "its index is gone"));
  for (const PlannedIndex& index : indices) {
    if (!index.desired.fields) continue;
    if (const auto refusal = refusal_of_fields(index.desired, *index.desired.fields))
      plan.obstacles.push_back(*obstacle_of(*refusal));
  }
  for (Finding& finding : lost_in_a_reindex(indices)) plan.obstacles.push_back(std::move(finding));
  for (Finding& finding : left_in_a_reindex()) plan.obstacles.push_back(std::move(finding));
  for (const PlannedIndex& index : indices) {
    for (PlanStep& step : steps_of(index.plan)) plan.steps.push_back(std::move(step));
    if (auto obstacle = obstacle_of(index.plan)) plan.obstacles.push_back(*std::move(obstacle));
    plan.indices.push_back(index.plan);
  }
  return plan;
}

void Deployment::apply(const SourceDefinition::Progress& progress) {
  const std::string identity = source_.identity();
  std::vector<PlannedIndex> indices = plan_indices(desired(identity));
  refuse(plan(indices).obstacles);
  // A pipeline that exists may be running. Its indices change first, so that the documents for which the
  // source then asks can be written (G2). A new pipeline runs nowhere, and its indices need the identity that
  // the source gives it.
  if (!identity.empty()) {
    const std::vector<std::string> lost = lost_indices(indices);
    for (const std::string& alias : lost) tell(progress.step, refill_step(alias, "its index is gone"));
    if (!lost.empty()) source_.refill(lost, kLost);
    apply_indices(indices, progress.step);
  }
  source_.apply(progress);
  if (identity.empty()) {
    indices = plan_indices(desired(source_.identity()));
    apply_indices(indices, progress.step);
  }
  for (const auto& [desired, plan] : indices) {
    if (plan.kind == IndexPlan::Kind::kAdopt) forget_uncompared(elasticsearch_, desired);
  }
}

void Deployment::take_back(const std::string& alias) {
  for (const DesiredIndex& index : desired(source_.identity())) {
    if (index.alias == alias) put_mark_back(elasticsearch_, index, plan_index(elasticsearch_, index));
  }
}

DeploymentPlan Deployment::removal_plan(Indices indices) {
  DeploymentPlan plan;
  if (indices == Indices::kDeleted) {
    for (const IndexState& index : own_indices(source_.identity())) {
      plan.steps.push_back({PlanStep::Action::kDrop, "index " + index.name, "with its documents", ""});
    }
  }
  for (PlanStep& step : source_.removal_plan()) plan.steps.push_back(std::move(step));
  return plan;
}

void Deployment::remove(Indices indices, const SourceDefinition::Progress& progress) {
  if (indices == Indices::kDeleted) {
    for (const IndexState& index : own_indices(source_.identity())) {
      tell(progress.step, {PlanStep::Action::kDrop, "index " + index.name, "with its documents", ""});
      elasticsearch_.delete_index(index.name);
    }
  }
  source_.remove(progress);
}

std::vector<DesiredIndex> Deployment::desired(const std::string& identity) {
  const auto fields = source_.document_fields();
  const auto differences = source_.definition_differences();
  std::vector<DesiredIndex> wanted;
  for (const IndexConfig& index : config_.indices) {
    const auto known = fields.find(index.alias);
    wanted.push_back({index.alias, index.view, parse_mapping(index.mapping.string(), index.mapping_json),
                      config_.pipeline, identity,
                      known == fields.end() ? std::nullopt : std::optional(known->second)});
    if (adopted_.contains(index.alias)) wanted.back().foreign = DesiredIndex::Foreign::kAdopt;
    const auto redefined = differences.find(index.alias);
    if (redefined != differences.end()) wanted.back().documents = to_mapping_differences(redefined->second);
  }
  return wanted;
}

std::vector<Deployment::PlannedIndex> Deployment::plan_indices(std::vector<DesiredIndex> desired) {
  std::vector<PlannedIndex> planned;
  for (DesiredIndex& index : desired) {
    IndexPlan plan = plan_or_refusal(elasticsearch_, index);
    planned.push_back({std::move(index), std::move(plan)});
  }
  return planned;
}

std::vector<std::string> Deployment::lost_indices(const std::vector<PlannedIndex>& indices) {
  const std::vector<std::string> applied = source_.applied_aliases();
  std::vector<std::string> lost;
  for (const auto& [desired, plan] : indices) {
    const bool known = std::find(applied.begin(), applied.end(), plan.alias) != applied.end();
    if (known && plan.kind == IndexPlan::Kind::kCreate) lost.push_back(plan.alias);
  }
  return lost;
}

// One that was taken out of the configuration, and is put back, may have documents that were deleted since.
std::set<std::string> Deployment::filled(const std::vector<PlannedIndex>& indices) {
  std::set<std::string> filled;
  for (const PlannedIndex& index : indices) {
    if (index.plan.kind != IndexPlan::Kind::kCreate) filled.insert(index.plan.alias);
  }
  return filled;
}

// Its writes go to an alias of the generation that is gone.
std::vector<Finding> Deployment::lost_in_a_reindex(const std::vector<PlannedIndex>& indices) {
  const std::vector<std::string> applied = source_.applied_aliases();
  std::vector<Finding> findings;
  for (const PlannedIndex& index : indices) {
    const IndexPlan& plan = index.plan;
    if (plan.kind != IndexPlan::Kind::kCreate || !has_generation_beside(plan.alias, applied)) continue;
    findings.push_back({Finding::Severity::kError, "index " + plan.alias,
                        "the alias is gone while a reindex of it is under way",
                        remedy_of_lost_generation(plan.alias)});
  }
  return findings;
}

// Both of its indices would stay, and the one that is not searched would be hidden and without an owner.
std::vector<Finding> Deployment::left_in_a_reindex() {
  const std::vector<std::string> applied = source_.applied_aliases();
  std::vector<Finding> findings;
  for (const std::string& alias : applied) {
    const bool is_configured = std::any_of(config_.indices.begin(), config_.indices.end(),
                                           [&](const IndexConfig& index) { return index.alias == alias; });
    if (is_configured || !has_generation_beside(alias, applied)) continue;
    findings.push_back({Finding::Severity::kError, "index " + alias,
                        "it leaves the configuration while a reindex of it is under way",
                        "put it back, end the reindex with `lockstep reindex --finish " + alias +
                            "`, or with --abort before the alias has moved, and take it out then"});
  }
  return findings;
}

void Deployment::apply_indices(const std::vector<PlannedIndex>& indices,
                               const std::function<void(const PlanStep&)>& told) {
  for (const auto& [desired, plan] : indices) {
    for (const PlanStep& step : steps_of(plan)) tell(told, step);
    apply_index_plan(elasticsearch_, desired, plan);
    if (plan.unwritten.empty()) continue;
    source_.refill({plan.alias}, reason_to_rewrite(plan));
    forget_unwritten(elasticsearch_, desired, plan.index);
  }
}

std::vector<IndexState> Deployment::own_indices(const std::string& identity) {
  std::vector<IndexState> own;
  if (identity.empty()) return own;
  for (const IndexConfig& configured : config_.indices) {
    for (IndexState& index : elasticsearch_.generations(configured.alias)) {
      const std::optional<IndexMark> mark = read_mark(index);
      if (mark && mark->identity == identity) own.push_back(std::move(index));
    }
  }
  return own;
}

}  // namespace lockstep
