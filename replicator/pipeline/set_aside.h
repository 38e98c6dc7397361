// Indices whose views cannot be read: somebody has dropped a column, or a row makes the view fail. Their
// changes are not followed, so that those of the others are; it is noted in the source, and once the view can
// be read again the whole index is compared with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/source/source.h"

namespace lockstep {

class SetAside {
 public:
  /// Begins with those that the source has noted. The references must outlive this.
  SetAside(const AppliedPipeline& pipeline, Source& source, Epoch epoch);

  bool empty() const { return reasons_.empty(); }
  bool contains(int index) const { return reasons_.contains(index); }

  /// "posts: rendering documents: …"
  std::string text() const;

  /// Notes it in the source, and throws the retryable Error after which everything is loaded again: what this
  /// process has in hand is not worth sorting out. REQUIRES: no transaction is open.
  [[noreturn]] void add(const ViewError& error);

  /// Follows those whose views can be read again, and returns the jobs that compare them. REQUIRES: no
  /// transaction is open.
  std::vector<Job> look_again();

 private:
  bool is_readable(const AppliedIndex& index);

  const AppliedPipeline& pipeline_;
  Source& source_;
  const Epoch epoch_;
  std::map<int, std::string> reasons_;  // by index
};

}  // namespace lockstep
