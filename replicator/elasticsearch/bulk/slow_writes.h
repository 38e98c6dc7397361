// Which indices Elasticsearch writes slowly (an ingest pipeline, a shard that moves, throttled merges),
// judged by how long requests are on the wire: a request has one index (B1). Their requests give their places
// to others, and only writes to them wait (promise 4).
//
// An index is slow from when a request with it, that a small change may have waited for, takes long, until
// one with it is taken in time. If all indices have been slow lately, the cluster is: then none counts as
// slow, and nothing more is sent than to a quick one. No network, no clock, no threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/ids.h"

namespace lockstep {

/// Background requests leave places on the wire to the others.
enum class BulkPriority : std::uint8_t { kNormal, kBackground };

class SlowWrites {
 public:
  /// Of so many indices. A request takes long after `patience`, and a second more for each MiB of it.
  SlowWrites(std::size_t indices, std::chrono::milliseconds patience);

  /// The ticket's request goes to Elasticsearch, as a whole or in part. REQUIRES: it is not empty.
  void sent(std::uint64_t ticket, const BulkRequest& request, BulkPriority priority, SteadyTime now);

  /// It has come back. `taken`: Elasticsearch has written it. REQUIRES: it was sent.
  void came_back(std::uint64_t ticket, bool taken, SteadyTime now);

  /// Whether the index is slow.
  bool is_slow(IndexId index, SteadyTime now);

  /// The indices that have been slow for so long, and were seen to be within the same time.
  std::vector<IndexId> slow_for(std::chrono::milliseconds time, SteadyTime now);

  /// Whether the ticket's request is on the wire and gives its place to another one: it takes long, or it is
  /// of a slow index.
  bool yields_slot(std::uint64_t ticket, SteadyTime now);

  /// Requests of a priority with a place.
  std::size_t places_given(BulkPriority priority, SteadyTime now);

  /// When the next request on the wire will have taken long; none: there is none that could.
  std::optional<SteadyTime> next_change(SteadyTime now) const;

 private:
  struct OnWire {
    IndexId index;
    BulkPriority priority = BulkPriority::kNormal;
    SteadyTime long_at;
    bool is_noted = false;  // as taking long
  };
  struct Slowness {
    bool lasts = false;
    SteadyTime began;  // the last time
    SteadyTime last_seen;
  };

  void note_long(SteadyTime now);
  bool all_are_slow(SteadyTime now) const;
  bool yields_slot(const OnWire& request, SteadyTime now) const;

  const std::size_t indices_;
  const std::chrono::milliseconds patience_;
  std::map<std::uint64_t, OnWire> on_wire_;  // by ticket
  std::map<IndexId, Slowness> slow_;         // that are slow, or were
};

}  // namespace lockstep
