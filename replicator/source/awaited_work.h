// The work that a wait for a point includes, in every database: the jobs that exist once the tail has passed
// the point, and the documents that are due then or become due from those. It includes no later work.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/outbox/due.h"

namespace lockstep {

/// Work that an index may lack apart from the outbox: a job that is not finished, its due list, or, with
/// neither, everything since it was paused.
struct UnfinishedWork {
  /// Of a due list, as DueList has them.
  struct Due {
    DueNumber oldest;
    DueNumber newest;
  };
  std::optional<JobId> job = {};
  std::optional<Due> due = {};
  std::string what;  ///< "comparison of blogposts, 10 documents so far", or why the index is paused
};

/// Why a point with pending changes is not passed yet: they wait for the tail, next to the first work.
std::string pending_changes(const std::vector<UnfinishedWork>& work);

class AwaitedWork {
 public:
  /// Whether look() has been called, and no index was paused or altered then.
  bool has_looked() const { return known_.has_value(); }

  /// The present leader, or the last `apply`, may have replaced the jobs.
  void forget() { known_.reset(); }

  /// kApplied: all of it is over. REQUIRES: the tail has passed the point, and `work` is newer than that.
  /// `altered`: which index is made of other definitions than the applied ones, asked for before `work`;
  /// empty: none.
  AppliedState look(const std::vector<UnfinishedWork>& work, const std::string& altered = {});

 private:
  struct Known {
    std::set<JobId> jobs;  ///< that are not finished
    DueNumber up_to;       ///< work that became due later is not part of it
  };

  static Known all_of(const std::vector<UnfinishedWork>& work);
  bool concerns(const UnfinishedWork& work) const;

  std::optional<Known> known_;  // none: not looked yet
};

}  // namespace lockstep
