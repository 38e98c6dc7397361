// Indices whose views cannot be read: somebody dropped a column, or a row makes the view fail. Their changes
// are not followed, so that those of the other indices are. The source keeps which indices are set aside.
// Once a view can be read again, its whole index is compared with it. That may fail too, since reading no
// document says little about all of them; so an index that comes back at once waits twice as long the next
// time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/pipeline/held_indices.h"
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

  /// Sets the index of `error` aside. REQUIRES: no transaction is open.
  void add(const ViewError& error);

  /// Call it when a transaction has been committed that sets the index aside in the source.
  void added(IndexId index, const std::string& reason);

  /// Takes back the indices that are not in `held` and whose views can be read again, and returns the jobs
  /// that compare them. An index that had to be set aside again is asked later each time. REQUIRES: no
  /// transaction is open.
  std::vector<Job> take_back_readable(SteadyTime now, const HeldIndices& held);

 private:
  /// When an index may be taken back, and how often it was in vain.
  struct Trial {
    int failures = 0;
    SteadyTime set_aside_at{};
    SteadyTime taken_back_at{};
  };

  bool is_readable(const AppliedIndex& index);
  const std::string& alias_of(IndexId index) const;

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  const Epoch epoch_;
  std::map<IndexId, std::string> reasons_;
  std::map<IndexId, Trial> trials_;
};

}  // namespace lockstep
