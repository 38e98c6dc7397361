// Which deletions have to be repeated, since an older write of their document may still land: an unanswered
// request waits somewhere, in a node that hangs, say, or behind a proxy. Elasticsearch forgets the version of
// a deletion after a minute (index.gc_deletes), and would take the document back. Needs the same memory
// however much is written.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "replicator/clock.h"

namespace lockstep {

/// For which a request that has no answer may still land.
inline constexpr std::chrono::minutes kLandsWithin{10};

class LateWrites {
 public:
  /// Until then any write of an earlier leader may land.
  explicit LateWrites(SteadyTime of_earlier_leaders);

  /// A write of the document with this hash, sent until now, was not answered.
  void add(std::size_t document, SteadyTime now);

  /// Until when a write of the document may land, or one of another that has its place here.
  SteadyTime may_land_until(std::size_t document) const;

  /// The same of all documents.
  SteadyTime any_may_land_until() const { return any_; }

 private:
  const SteadyTime of_earlier_leaders_;
  SteadyTime any_;
  std::vector<SteadyTime> until_;  // by hash; none until the first is added
};

}  // namespace lockstep
