// Admits bulk requests to the wire: how many may travel at once, and how large each may be. It follows the
// congestion window, which backs off from overload, and how many background requests there may be. Requests
// of slow indices give their places to others (slow_writes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/elasticsearch/bulk/bulk_response.h"
#include "replicator/elasticsearch/bulk/congestion_window.h"
#include "replicator/elasticsearch/bulk/slow_writes.h"
#include "replicator/mutex.h"

namespace lockstep {

/// Thread-safe.
class BulkWire {
 public:
  /// At most `requests` at once, of up to `bytes` each, and as many again that give up their places.
  BulkWire(int requests, std::size_t bytes, SlowWrites slow);

  /// An admitted request's allowance.
  struct Pass {
    BulkPriority priority = BulkPriority::kNormal;
    std::uint64_t ticket = 0;
    std::uint64_t generation = 0;  ///< of the congestion window
    std::size_t most_bytes = 0;    ///< of the piece
  };

  /// Waits until there is room for one more request; none after close(). Each pass must leave() again before
  /// its ticket enters once more.
  std::optional<Pass> enter(std::uint64_t ticket, const BulkRequest& request, BulkPriority priority);

  /// The request has come back: its result adjusts the window (BulkDelivery::load()).
  void leave(const Pass& pass, BulkReply::Kind load, std::size_t piece_bytes);

  /// At most so many background requests at once, at least 1. No limit at first.
  void limit_background(std::size_t requests);

  /// Background requests that wait in enter().
  std::size_t background_waiting() const;

  /// See slow_writes.h.
  bool is_slow(IndexId index) const;
  std::vector<IndexId> slow_for(std::chrono::milliseconds time) const;

  /// Whether the ticket's request is on the wire and has given its place to another one.
  bool yields_slot(std::uint64_t ticket) const;

  struct Limits {
    int requests = 0;
    std::size_t bytes = 0;
  };
  /// The limits that Elasticsearch seems to bear now.
  Limits limits() const;

  /// Admits no more requests, and wakes waiting threads.
  void close();

 private:
  bool has_room(BulkPriority priority, SteadyTime now) const LOCKSTEP_REQUIRES(mutex_);
  bool background_starves(SteadyTime now) const LOCKSTEP_REQUIRES(mutex_);

  const std::size_t bytes_;

  mutable Mutex mutex_;
  Condition freed_;  // also when closed
  CongestionWindow window_ LOCKSTEP_GUARDED_BY(mutex_);
  mutable SlowWrites slow_ LOCKSTEP_GUARDED_BY(mutex_);  // each look notes the requests that take long by
                                                         // then
  std::size_t on_wire_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
  std::size_t background_on_wire_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
  std::size_t background_waiting_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
  SteadyTime background_waits_since_ LOCKSTEP_GUARDED_BY(mutex_){};  // or when one was last on the wire
  std::size_t background_limit_ LOCKSTEP_GUARDED_BY(mutex_) = static_cast<std::size_t>(-1);
  bool closed_ LOCKSTEP_GUARDED_BY(mutex_) = false;
};

}  // namespace lockstep
