#include "replicator/source/define/index_plan.h"

#include "replicator/listed.h"

namespace lockstep {
namespace {

// Why the documents of an applied index may differ from its view now; empty: they don't.
std::string reason_to_repeat(const IndexToPlan& index) {
  const DescribedIndex& wanted = index.wanted;
  const AppliedIndexRow& applied = *index.applied;
  if (applied.view != wanted.view) return "another view: " + wanted.view;
  if (!index.changed.empty() ||
      static_cast<const DocumentShape&>(applied) != static_cast<const DocumentShape&>(wanted))
    return "the view or what it reads has changed" +
           (index.changed.empty() ? "" : ": " + listed(index.changed));
  if (applied.json_fields != wanted.json_fields) return "other columns hold JSON";
  if (applied.tracks != index.tracks) return "the tracks have changed";
  return index.gap;
}

}  // namespace

std::vector<StoredIndex> stored_indices_of(const AppliedIndices& indices) {
  std::vector<StoredIndex> stored;
  for (const auto& [name, index] : indices)
    stored.push_back({name, index.beside, index.configured, index.was_swapped, index.followed, index.fields});
  return stored;
}

std::optional<IndexChange> plan_index(const IndexToPlan& index) {
  using enum PlanStep::Action;
  using enum JobKind;
  const std::string follows = "follows view " + index.wanted.view;
  if (index.applied == nullptr) {
    if (index.is_filled)
      return IndexChange{kCreate,
                         follows + ", beginning with a comparison",
                         "it has documents already",
                         {kComparison, kSweep}};
    return IndexChange{kCreate, follows + ", beginning with a backfill", "new index", {kBackfill}};
  }
  const std::string reason = reason_to_repeat(index);
  if (reason.empty()) return std::nullopt;
  if (!index.applied->followed) return IndexChange{kChange, follows + " when the reindex begins", reason, {}};
  const bool is_id_changed = index.applied->id_type != index.wanted.id_type;
  return IndexChange{kChange, repetition_text(reason, is_id_changed), reason, {kBackfill, kSweep}};
}

PlanStep change_step(const std::string& alias, const IndexChange& change, std::string sql) {
  return {change.action, "index " + alias, change.detail, std::move(sql)};
}

PlanStep comparison_step(const std::string& alias, const std::string& why, std::string sql) {
  return {PlanStep::Action::kChange, "index " + alias, why + ": it is compared with its view",
          std::move(sql)};
}

PlanStep noting_step(const std::string& alias, std::string sql) {
  return {PlanStep::Action::kChange, "index " + alias, "note how it is defined", std::move(sql)};
}

PlanStep drop_step(const std::string& alias, std::string sql) {
  return {PlanStep::Action::kDrop, "index " + alias,
          "no longer in the configuration; the one in Elasticsearch is left as it is", std::move(sql)};
}

}  // namespace lockstep
