// Admits bulk requests to the wire: how many may travel at once, and how large each may be. It follows the
// congestion window, which backs off from overload, and for background requests the throughput search too.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/bulk_delivery.h"
#include "replicator/elasticsearch/bulk/congestion_window.h"
#include "replicator/elasticsearch/bulk/throughput_search.h"

namespace lockstep {

/// The wire holds a background request back while the throughput search finds fewer of them faster.
enum class BulkPriority : std::uint8_t { kNormal, kBackground };

/// Thread-safe.
class BulkWire {
 public:
  /// `requests` at once, of up to `bytes` each, at most.
  BulkWire(int requests, std::size_t bytes);

  /// What a request may send once it is admitted.
  struct Pass {
    BulkPriority priority = BulkPriority::kNormal;
    std::uint64_t generation = 0;  ///< of the congestion window
    std::size_t most_bytes = 0;    ///< of the piece
  };

  /// Waits until there is room for one more request; none after close(). Each pass must leave() again.
  std::optional<Pass> enter(BulkPriority priority);

  /// The request has come back: the window and the search learn from what it met.
  void leave(const Pass& pass, BulkDelivery::Load load, std::size_t piece_bytes);

  /// At most so many background requests at once, at least 1. No limit at first.
  void limit_background(std::size_t requests);

  /// How large a background request should be, at most, to be fast.
  std::size_t background_bytes() const;

  struct Limits {
    int requests = 0;
    std::size_t bytes = 0;
  };
  /// What Elasticsearch seems to take now.
  Limits limits() const;

  /// Admits nobody any more, and wakes those who wait.
  void close();

 private:
  bool has_room(BulkPriority priority) const;
  void note_room(SteadyTime now);

  const std::size_t bytes_;

  mutable std::mutex mutex_;
  std::condition_variable freed_;  // also when closed
  // guarded by mutex_
  CongestionWindow window_;
  ThroughputSearch search_;
  int on_wire_ = 0;
  std::size_t background_on_wire_ = 0;
  std::size_t background_limit_ = static_cast<std::size_t>(-1);
  bool closed_ = false;
};

}  // namespace lockstep
