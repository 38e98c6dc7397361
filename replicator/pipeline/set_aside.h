// Indices whose views cannot be read: somebody dropped a column, or a row makes the view fail. Their changes
// are not followed, so that those of the other indices are. The source keeps which indices are set aside.
// Once a view can be read again, its whole index is compared with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replicator/document_version.h"
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

  /// Sets the index of `error` aside in the source. Returns the retryable Error to throw next: what this
  /// process has in hand is simpler to reload than to untangle. REQUIRES: no transaction is open.
  Error note(const ViewError& error);

  /// Takes back the indices whose views can be read again, and returns the jobs that compare them. REQUIRES:
  /// no transaction is open.
  std::vector<Job> take_back_readable();

 private:
  bool is_readable(const AppliedIndex& index);

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  const Epoch epoch_;
  std::map<IndexId, std::string> reasons_;
};

}  // namespace lockstep
