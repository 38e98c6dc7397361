#include "replicator/pipeline/reindex_orders.h"

#include <algorithm>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

bool fits(ReindexWish wish, const Reindex& reindex) {
  if (reindex.state == ReindexState::kKept) return wish != ReindexWish::kAbort;
  const bool moves_back = reindex.was_swapped && reindex.state == ReindexState::kSwapping;
  return wish == ReindexWish::kAbort && !moves_back;
}

// The order that fits.
std::string way_out(const Reindex& reindex) {
  switch (reindex.state) {
    case ReindexState::kKept:
      return "the alias has moved; --back moves it back, --finish deletes the other index";
    case ReindexState::kFailed:
      return "--abort ends it, wherever the alias points";
    case ReindexState::kDropping:
      return "the other index is being deleted; --abort waits for that";
    case ReindexState::kSwapping:
      if (reindex.was_swapped) return "the alias is moving; wait for the state kept: see `lockstep status`";
      break;
    case ReindexState::kCreating:
    case ReindexState::kFilling:
    case ReindexState::kComparing:
      break;
  }
  return "the alias has not moved yet; --abort takes it back";
}

}  // namespace

std::optional<Reindex> reindex_of(Reindexes& reindexes, const std::string& alias) {
  for (Reindex& reindex : reindexes.all()) {
    if (reindex.alias == alias) return std::move(reindex);
  }
  return std::nullopt;
}

IndexPlan plan_reindex(ElasticsearchClient& elasticsearch, const DesiredIndex& desired) {
  if (const auto refusal = refusal_of_mapping(desired))
    throw UsageError(refusal->problem + "; " + refusal->remedy);
  IndexPlan plan = plan_index(elasticsearch, desired);
  if (plan.kind == IndexPlan::Kind::kRefuse)
    throw Error({"reindexing " + desired.alias, plan.problem, plan.remedy});
  if (plan.kind == IndexPlan::Kind::kCreate)
    throw Error({"reindexing " + desired.alias, "it has no index", "run `lockstep apply`, which makes it"});
  return plan;
}

bool order_reindex(Reindexes& reindexes, const ReindexOrder& order,
                   const std::function<bool(const WantedReindex&)>& start) {
  const std::string& alias = order.wanted.alias;
  const bool is_new = start(order.wanted);
  const std::optional<Reindex> known = reindex_of(reindexes, alias);
  if (!is_new && known && known->state == ReindexState::kKept) {
    throw UsageError(alias + ": " + known->beside_name + " is still followed alongside " + known->live_name +
                     "; end that with `lockstep reindex --finish " + alias +
                     "`, or move the alias back with --back");
  }
  if (!is_new && known &&
      (known->mapping != order.wanted.mapping || known->has_own_definition != order.is_redefined)) {
    throw UsageError(alias +
                     ": a reindex with another mapping or view is under way; take it back with `lockstep "
                     "reindex --abort " +
                     alias + "`");
  }
  if (!is_new && known && order.max_rate) reindexes.limit(known->id, *order.max_rate);
  if (known && order.force == Reindexes::Force::kYes)
    reindexes.want(known->id, ReindexWish::kNone, Reindexes::Force::kYes);
  return is_new;
}

std::vector<Reindex> reindexes_for(Reindexes& reindexes, ReindexWish wish,
                                   const std::vector<std::string>& aliases) {
  std::vector<Reindex> asked;
  for (Reindex& reindex : reindexes.all()) {
    const bool is_named = std::ranges::find(aliases, reindex.alias) != aliases.end();
    if (is_named || (aliases.empty() && fits(wish, reindex))) asked.push_back(std::move(reindex));
  }
  for (const Reindex& reindex : asked) {
    if (fits(wish, reindex)) continue;
    throw UsageError("the reindex of " + reindex.alias + " is in the state " +
                     std::string(name_of(reindex.state)) + ": " + way_out(reindex));
  }
  for (const std::string& alias : aliases) {
    const bool is_found =
        std::ranges::any_of(asked, [&](const Reindex& reindex) { return reindex.alias == alias; });
    if (!is_found) throw UsageError("there is no reindex of " + alias + "; see `lockstep status`");
  }
  if (asked.empty()) throw UsageError("there is no reindex that fits; see `lockstep status`");
  return asked;
}

}  // namespace lockstep
