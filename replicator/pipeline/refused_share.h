// Stops the pipeline if Elasticsearch refuses so many documents that they must have a common fault: a mapping
// that takes nothing is one mistake, not a million dead letters.
//
// Each index is judged over windows of at least kWindow documents. The documents of one save belong to one
// window. If more than the configured share of a window became dead letters, the pipeline ends with an Error
// before the window is saved, so the checkpoint does not pass the refused documents (K2). A document that was
// a dead letter before and is refused again does not count: it adds no row. A generation next to another is
// not judged here: its mapping may end its reindex, not the pipeline (reindexing.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replicator/source/applied.h"
#include "replicator/source/outbox/acknowledged.h"

namespace lockstep {

class RefusedShare {
 public:
  /// Documents of an index that are judged together, at least.
  static constexpr std::int64_t kWindow = 1'000;

  /// `most` is replication.max_refused_share.
  RefusedShare(double most, const AppliedPipeline& pipeline);

  /// Counts outcomes that are about to be committed. `fresh` are the positions of the new dead letters in
  /// `acknowledged.refused` (SourceTransaction::new_dead_letters()). Throws Error, which no retry fixes, if a
  /// window ends above the share: then none of this may be committed.
  void count(const Acknowledged& acknowledged, const std::vector<std::size_t>& fresh);

 private:
  struct Window {
    std::int64_t documents = 0;
    std::int64_t refused = 0;
    std::int64_t own = 0;  // of them: by Lockstep itself
    std::string first;     // error of the first refused document
  };

  void judge(IndexId index, const Window& window) const;

  double most_;
  std::map<IndexId, std::string> aliases_;
  std::map<IndexId, Window> windows_;
};

}  // namespace lockstep
