// The care of the outbox: emptying it, its limit, and whether the triggers still write into it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// For the leader.
class OutboxMaintenance {
 public:
  virtual ~OutboxMaintenance() = default;

  /// Removes the changes that every pipeline has passed. Waits at most some 50 ms for a lock, and gives up
  /// quietly then.
  virtual void prune() = 0;

  /// The same, if the outbox has a limit and comes near it; otherwise it costs a query, or nothing if no
  /// pipeline has a limit. Passed rows that cannot be removed, since an open transaction holds them, do not
  /// count towards the limit.
  virtual void keep_small() = 0;

  /// Bytes on disk, with consumed rows that are not removed yet.
  virtual std::int64_t size() = 0;

  /// Whether the triggers dropped changes because the outbox was full (replication.max_outbox_size), and
  /// resume() has not succeeded since.
  virtual bool has_given_up() = 0;

  /// Enables capture again. Once no uncaptured transaction is open, moves every pipeline to now and adds
  /// comparisons of all their indices: true. False: an uncaptured transaction is still open, or there is no
  /// room; call again. The limit holds meanwhile: the outbox can become full again.
  /// REQUIRES: leading, no transaction open.
  virtual bool resume() = 0;

  /// Brings the captures in line with the parts of tracked tables (partitions) that have come or gone, for
  /// which no trigger fires: notes the rows of those that can be read, and adds comparisons for the others.
  /// Returns its work, in sentences. Parts that it could not follow are among differences_from_applied().
  /// REQUIRES: leading, no transaction open.
  virtual std::vector<std::string> follow_parts() = 0;

  /// Changes in the source since the last `apply`, in words: triggers that are gone or disabled or do not fit
  /// their table any more, parts that cannot be followed, other definitions of the documents. Changes are
  /// missed, documents out of date, or more is noted than needed.
  virtual std::vector<std::string> differences_from_applied() = 0;
};

}  // namespace lockstep
