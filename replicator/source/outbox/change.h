// The outbox's contents: which rows changed, in chunks between two positions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Why the jobs of a change of `everything` are there, for `status`.
inline constexpr std::string_view kEverythingChanged =
    "a tracked table was truncated, or its trigger could not compute the value of a track";

/// A transaction of many changes, or an unread rest of it. Only the source that made it can read it.
struct LargeTransaction {
  std::string text;
  bool operator==(const LargeTransaction&) const = default;
};

/// A longer value, such as the address of a page, counts as several, one for each so many bytes: so a number
/// of values is a limit of memory, too.
inline constexpr std::int64_t kBytesOfOneValue = 128;

/// The limits of a chunk.
struct ChunkLimits {
  std::int64_t values = 0;  ///< about; long ones count as several (kBytesOfOneValue)
  /// A transaction that extends beyond the chunk is not read if it has more values left. None: no limit.
  std::optional<std::int64_t> transaction_values = {};
};

/// Changes of so many bytes make a list of documents together. Those that come then make another one: all of
/// them are looked up at once, and so in memory.
inline constexpr std::int64_t kMostJoinedBytes = std::int64_t{1024} * 1024;

/// The limits of the search for the documents of changes.
struct SearchLimits {
  std::int64_t documents = 0;  ///< at most
  /// At most, for small changes wait meanwhile. A query over a tree gives nothing before it has found
  /// everything, so a limit of documents is no limit of its time. Ten thousand ids take 12 to 25 ms.
  std::chrono::milliseconds time{40};
};

/// A chunk of changes.
struct Changes {
  std::vector<CapturedChange> captured;
  /// Of rows that no pipeline's capture can have written since the last `apply`: their meaning is unknown.
  std::vector<CaptureId> unknown_captures = {};
  /// The whole chunk, unread: it counts as one row.
  std::optional<LargeTransaction> large = {};
  Position next;                           ///< behind the chunk
  std::int64_t rows = 0;                   ///< outbox rows read
  bool more = false;                       ///< the batch has further rows
  std::chrono::microseconds oldest_age{};  ///< since the oldest of the rows was written
};

}  // namespace lockstep
