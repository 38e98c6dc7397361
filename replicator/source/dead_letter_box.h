// The dead letters of a pipeline, for people. The leader adds and clears them with its checkpoint
// (SourceTransaction::save).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "replicator/source/outbox/dead_letter.h"

namespace lockstep {

class DeadLetterBox {
 public:
  virtual ~DeadLetterBox() = default;

  /// The time now, by the clock that dates dead letters: ages and "now" in a filter are counted from it.
  virtual std::chrono::system_clock::time_point now() = 0;

  virtual std::int64_t count(const DeadLetterFilter& filter) = 0;

  /// The dead letters behind `after` in the order of index, id and routing, at most `limit`.
  virtual std::vector<StoredDeadLetter> find(const DeadLetterFilter& filter,
                                             const std::optional<DeadLetter>& after, std::int64_t limit) = 0;

  /// Dead letters of these indices whose writes may work later (Elasticsearch was overloaded, or did not
  /// answer), and that were tried ten seconds ago, after a second try twenty seconds ago and so on, up to
  /// an hour: at most `limit`, those first that were tried longest ago.
  virtual std::vector<DeadLetter> find_due(const std::vector<IndexId>& indices, std::int64_t limit) = 0;

  /// Forgets them; returns how many they were. Their documents stay as they are.
  virtual std::int64_t discard(const DeadLetterFilter& filter) = 0;
};

}  // namespace lockstep
