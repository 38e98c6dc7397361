// Indices that cannot be followed: somebody dropped a column of their view, a row makes it fail, one of their
// jobs cannot be read, or what stands behind their alias is not this pipeline's. Their changes are not
// followed, so that those of the other indices are. The source keeps which indices are set aside. Once
// nothing stops an index any more, it is compared with its view: this also makes up for a job that was
// deleted because nobody could read it. The comparison may fail too, since reading no document says little
// about all of them; so an index that comes back at once waits twice as long the next time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/pipeline/isolation/held_indices.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class SetAside {
 public:
  /// Begins with the indices that `pipeline` says are set aside. The references must outlive this.
  SetAside(const AppliedPipeline& pipeline, ChangeLog& changes, Epoch epoch);

  bool empty() const { return reasons_.empty(); }
  bool contains(IndexId index) const { return reasons_.contains(index); }

  /// "posts: rendering documents: …"
  std::string text() const;

  /// Sets the index aside. REQUIRES: no transaction is open.
  void add(IndexId index, const std::string& reason);

  /// Sets the index aside, if it is not yet, for as long as this leadership lasts: it is unfit
  /// (leadership.h). Corrects the reason. REQUIRES: no transaction is open.
  void keep(IndexId index, const std::string& reason);

  /// Call it when a transaction has been committed that sets the index aside in the source.
  void added(IndexId index, const std::string& reason);

  /// Takes back the indices that are neither kept nor in `held` and whose views and jobs can be read again,
  /// and returns the jobs that compare them. Corrects the reason of those that something else stops now. An
  /// index that had to be set aside again is asked later each time. REQUIRES: no transaction is open.
  std::vector<Job> take_back_readable(SteadyTime now, const HeldIndices& held);

 private:
  /// When an index may be taken back, and how often it was in vain.
  struct Trial {
    int failures = 0;
    SteadyTime set_aside_at{};
    SteadyTime taken_back_at{};
  };

  /// Why the index cannot be followed. None: it can.
  std::optional<std::string> obstacle(const AppliedIndex& index, const UnfinishedJobs& jobs);
  void restate(const AppliedIndex& index, const std::string& reason);

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  const Epoch epoch_;
  std::map<IndexId, std::string> reasons_;
  std::map<IndexId, Trial> trials_;
  std::set<IndexId> kept_;
};

}  // namespace lockstep
