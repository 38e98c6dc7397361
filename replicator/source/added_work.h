// Work that a command has added, so that it can wait until the leader has done it.
#pragma once

#include <map>
#include <set>

#include "replicator/source/change_log.h"

namespace lockstep {

class AddedWork {
 public:
  /// A commit has just added this.
  void add(const Committed& added, ChangeLog& changes);

  /// All jobs of the index that are not finished, and all that is due of it.
  static AddedWork all_of(IndexId index, ChangeLog& changes);

  bool empty() const { return jobs_.empty() && due_.empty(); }

  /// Whether nothing of it is left.
  bool is_done(ChangeLog& changes) const;

 private:
  void note_due(IndexId index, ChangeLog& changes);

  std::set<JobId> jobs_;
  std::map<IndexId, DueNumber> due_;  // up to which
};

}  // namespace lockstep
