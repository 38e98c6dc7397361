// The jobs that somebody who waits for a point has to wait for, whichever database keeps them: those that
// exist once the tail has passed the point, and the repairs that come of them. Later jobs are none of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/applied_watch.h"

namespace lockstep {

/// What an index may lack beside what is in the outbox.
struct UnfinishedWork {
  std::optional<JobId> job;  ///< none: the index is set aside
  IndexId index;
  std::string what;        ///< "comparison of blogposts, 10 documents so far", or why the index is set aside
  bool is_repair = false;  ///< a list of documents that another job could not write, for one
};

/// Why a point is not passed yet whose changes are pending: they wait for the tail, beside the first work.
std::string pending_changes(const std::vector<UnfinishedWork>& work);

class AwaitedJobs {
 public:
  /// Whether look() has been called, and no index was set aside or altered then.
  bool has_looked() const { return jobs_.has_value(); }

  /// Whoever leads now, or the last `apply`, may have replaced the jobs.
  void forget() { jobs_.reset(); }

  /// kApplied: all of them are over. REQUIRES: the tail has passed the point, and `work` is newer than that.
  /// `altered`: which index is made of other definitions than the applied ones, asked for before `work`;
  /// empty: none.
  AppliedState look(const std::vector<UnfinishedWork>& work, const std::string& altered = {});

 private:
  struct KnownJob {
    JobId id;
    IndexId index;
  };

  bool is_known(JobId job) const;
  bool has_ended_since(const std::vector<UnfinishedWork>& work, IndexId index) const;

  // Those that are not finished; none: nobody has looked.
  std::optional<std::vector<KnownJob>> jobs_;
};

}  // namespace lockstep
