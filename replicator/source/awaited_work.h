// The work that somebody who waits for a point has to wait for, whichever database keeps it: the jobs that
// exist once the tail has passed the point, and what is due then or comes of that. Later work is none of it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/outbox/due.h"

namespace lockstep {

/// What an index may lack beside what is in the outbox: a job that is not finished, its list of what is due,
/// or, with neither, everything since it was set aside.
struct UnfinishedWork {
  /// Of a list of what is due, as DueList has them.
  struct Due {
    DueNumber oldest;
    DueNumber newest;
  };
  std::optional<JobId> job = {};
  std::optional<Due> due = {};
  std::string what;  ///< "comparison of blogposts, 10 documents so far", or why the index is set aside
};

/// Why a point is not passed yet whose changes are pending: they wait for the tail, beside the first work.
std::string pending_changes(const std::vector<UnfinishedWork>& work);

class AwaitedWork {
 public:
  /// Whether look() has been called, and no index was set aside or altered then.
  bool has_looked() const { return known_.has_value(); }

  /// Whoever leads now, or the last `apply`, may have replaced the jobs.
  void forget() { known_.reset(); }

  /// kApplied: all of it is over. REQUIRES: the tail has passed the point, and `work` is newer than that.
  /// `altered`: which index is made of other definitions than the applied ones, asked for before `work`;
  /// empty: none.
  AppliedState look(const std::vector<UnfinishedWork>& work, const std::string& altered = {});

 private:
  struct Known {
    std::set<JobId> jobs;  ///< that are not finished
    DueNumber up_to;       ///< what became due later is none of it
  };

  static Known all_of(const std::vector<UnfinishedWork>& work);
  bool concerns(const UnfinishedWork& work) const;

  std::optional<Known> known_;  // none: nobody has looked
};

}  // namespace lockstep
