// The searches for the documents of due changes: of one index at a time, in a thread, alongside everything
// else.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "replicator/background.h"
#include "replicator/ids.h"
#include "replicator/source/outbox/due.h"

namespace lockstep {

/// For one thread, which asks. REQUIRES: no search is at work when it is destroyed.
class DueSearches {
 public:
  using Find = std::function<FoundDue()>;

  /// The findings of `find` for the index since it was asked for; they are kept until the index asks. None:
  /// it is at work, for this index or for another one. Throws the errors of `find`.
  std::optional<FoundDue> advance(IndexId index, Find find);

  /// Whether a search is at work still, after so long.
  bool is_at_work_after(std::chrono::milliseconds time) const;

 private:
  IndexId index_;  // of at_work_, while that is valid
  Background<FoundDue> at_work_;
  std::map<IndexId, Background<FoundDue>> ended_;
};

}  // namespace lockstep
