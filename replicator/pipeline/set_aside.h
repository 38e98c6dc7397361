// Indices that cannot be followed: somebody dropped a column of their view, a row makes it fail, or one of
// their jobs cannot be read. Their changes are not followed, so that those of the other indices are. The
// source keeps which indices are set aside. Once nothing stops an index any more, it is compared with its
// view: this also makes up for a job that was deleted because nobody could read it.
#pragma once

#include <map>
#include <optional>
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
  Error note(const UnreadableJob& job);

  /// Takes back the indices whose views and jobs can be read again, and returns the jobs that compare them.
  /// Corrects the reason of those that something else stops now. REQUIRES: no transaction is open.
  std::vector<Job> take_back_readable();

 private:
  Error note(IndexId index, const std::string& reason);
  /// Why the index cannot be followed. None: it can.
  std::optional<std::string> obstacle(const AppliedIndex& index, const UnfinishedJobs& jobs);
  void restate(const AppliedIndex& index, const std::string& reason);

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  const Epoch epoch_;
  std::map<IndexId, std::string> reasons_;
};

}  // namespace lockstep
