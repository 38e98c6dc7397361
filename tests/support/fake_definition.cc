#include "tests/support/fake_definition.h"

#include <algorithm>

#include "tests/support/fake_reindexes.h"

namespace lockstep::fake {
namespace {

const AppliedIndex* index_named(const std::vector<AppliedIndex>& indices, const std::string& alias) {
  const auto found =
      std::ranges::find_if(indices, [&](const AppliedIndex& index) { return index.alias == alias; });
  return found == indices.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> FakeDefinition::applied_aliases() {
  std::vector<std::string> aliases;
  for (const AppliedIndex& index : database_.pipeline().indices) aliases.push_back(index.alias);
  return aliases;
}

bool FakeDefinition::start_reindex(const WantedReindex& wanted, const Progress& /*progress*/) {
  const Connection connection;
  return FakeReindexes(database_, connection).start(wanted);
}

void FakeDefinition::refill(const std::vector<std::string>& aliases, const std::string& reason) {
  database_.write([&](State& state) {
    for (const std::string& alias : aliases) {
      const AppliedIndex* const index = index_named(state.pipeline.indices, alias);
      if (index != nullptr) add_whole_index_job(state, index->id, JobKind::kBackfill, reason);
    }
    return true;
  });
}

// Generations beside others are nothing that a configuration names.
std::vector<PlanStep> FakeDefinition::plan() {
  const AppliedPipeline applied = database_.pipeline();
  std::vector<PlanStep> steps;
  for (const AppliedIndex& index : applied.indices) {
    if (!index.beside && index_named(wanted_, index.alias) == nullptr)
      steps.push_back({PlanStep::Action::kDrop, "index " + index.alias, "", ""});
  }
  for (const AppliedIndex& index : wanted_) {
    if (index_named(applied.indices, index.alias) == nullptr)
      steps.push_back({PlanStep::Action::kCreate, "index " + index.alias, "", ""});
  }
  return steps;
}

void FakeDefinition::apply(const Progress& progress) {
  const std::vector<PlanStep> steps = plan();
  if (steps.empty()) return;
  database_.write([&](State& state) {
    const AppliedPipeline before = applied(state);
    for (const AppliedIndex& index : before.indices) {
      if (!index.beside && index_named(wanted_, index.alias) == nullptr) forget_index(state, index.id);
    }
    for (AppliedIndex index : wanted_) {
      if (index_named(before.indices, index.alias) != nullptr) continue;
      const IndexId view = index.id;
      index.id = {++state.last_index.value};
      state.same_view[index.id] = view;
      state.pipeline.indices.push_back(index);
      const bool is_filled = filled_.contains(index.alias);
      const std::vector<JobKind> jobs =
          is_filled ? std::vector{JobKind::kComparison, JobKind::kSweep} : std::vector{JobKind::kBackfill};
      for (const JobKind kind : jobs) add_whole_index_job(state, index.id, kind, "apply");
    }
    note_revision(state);
    return true;
  });
  for (const PlanStep& step : steps) {
    if (progress.step) progress.step(step);
  }
}

}  // namespace lockstep::fake
