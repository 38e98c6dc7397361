// What the outbox says: which rows changed, in chunks between two positions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "replicator/ids.h"

namespace lockstep {

/// A point in the stream of changes. Only the source that made it can read it.
struct Position {
  std::string text;
  bool operator==(const Position&) const = default;
};

/// Values of changed rows, each in the source's text form, without duplicates.
using Values = std::vector<std::string>;

/// The values that one capture took from changed rows, old and new ones.
struct CapturedChange {
  CaptureId capture;
  Values values;
  bool everything = false;  ///< any row may have changed: a truncate, or rows that cannot be named
};

/// A chunk of changes.
struct Changes {
  std::vector<CapturedChange> captured;
  /// Of rows that no pipeline's capture can have written since the last `apply`: what they say is not known.
  std::vector<CaptureId> unknown_captures = {};
  Position next;                           ///< behind the chunk
  std::int64_t rows = 0;                   ///< outbox rows read
  bool more = false;                       ///< the batch has further rows
  std::chrono::microseconds oldest_age{};  ///< since the oldest of the rows was written
};

}  // namespace lockstep
