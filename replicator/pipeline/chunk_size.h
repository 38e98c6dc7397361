// The number of changed values of the outbox read at a time, so that their documents fill whole bulk
// requests: the rest of a chunk would be sent by itself, as a small request. No threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

class ChunkSize {
 public:
  /// No more than `most_values`, for requests of `bulk_bytes`.
  ChunkSize(std::int64_t most_values, std::size_t bulk_bytes);

  /// Of the next chunk, by the values of the last one.
  std::int64_t values() const;

  /// A chunk of so many has been read.
  void begins(std::size_t values);

  /// A part of its documents takes so many bytes of a bulk request.
  void rendered(std::size_t bytes) { bytes_ += bytes; }

 private:
  const std::int64_t most_values_;
  const std::size_t bulk_bytes_;
  std::size_t values_ = 0;     // of the chunk in hand
  std::size_t bytes_ = 0;      // of its documents, so far
  double bytes_of_value_ = 0;  // by the last chunk that showed it; 0: unknown
};

}  // namespace lockstep
