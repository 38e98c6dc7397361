// The orders of `lockstep reindex` to a pipeline's leader, by rows in the source: the leader takes the
// reindex from state to state (reindexing.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

/// None: the alias has no reindex.
std::optional<Reindex> reindex_of(Reindexes& reindexes, const std::string& alias);

/// How the index behind an alias differs from the wanted one. Throws UsageError, or Error, if it cannot be
/// reindexed: it is not ours, there is none, or the mapping would not do.
IndexPlan plan_reindex(ElasticsearchClient& elasticsearch, const DesiredIndex& desired);

struct ReindexOrder {
  WantedReindex wanted;
  bool is_redefined = false;  ///< the new generation has another view or other tracks than the live one
  /// Of Reindex::max_rate, also of one that is under way. None: that keeps its own.
  std::optional<std::optional<std::int64_t>> max_rate = {};
  Reindexes::Force force = Reindexes::Force::kNo;
};

/// Starts a reindex by `start`, which works like Reindexes::start(). False: one for the same is under way,
/// and takes over limit and force. Throws UsageError if another one is.
bool order_reindex(Reindexes& reindexes, const ReindexOrder& order,
                   const std::function<bool(const WantedReindex&)>& start);

/// The reindexes that the operator means: those of the named aliases; without a name every one that the wish
/// fits. Throws UsageError if it does not fit a named one, or if there is none.
std::vector<Reindex> reindexes_for(Reindexes& reindexes, ReindexWish wish,
                                   const std::vector<std::string>& aliases);

}  // namespace lockstep
