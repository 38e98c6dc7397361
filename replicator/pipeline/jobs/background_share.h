// The jobs' share of Elasticsearch and of the pipeline's thread: everything while there are no small changes,
// and next to them only as much as keeps them fast. A cluster's number of threads is unknown. So the bound
// follows the delay that small changes see, with a target above the least delay seen, as LEDBAT does it for
// packets (RFC 6817). No threads.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "replicator/clock.h"

namespace lockstep {

class BackgroundShare {
 public:
  /// Jobs have at most so many requests of so many documents in flight, and that many while nothing else is.
  BackgroundShare(std::size_t most_requests, std::int64_t most_documents);

  /// A small request of the tail took this long, from its submission to its last outcome, next to so many
  /// requests of jobs.
  void small_change_took(std::chrono::microseconds took, std::size_t beside, SteadyTime now);

  /// A page of so many documents took this long to read and to render.
  void page_took(std::int64_t documents, std::chrono::microseconds took);

  /// Documents of the next page: a small request that meets it in Elasticsearch waits for it, and so does the
  /// tail if the page is read on its connection.
  std::int64_t documents(SteadyTime now) const;

  /// Requests that jobs may have in flight; at least 1.
  std::size_t requests(SteadyTime now) const;

 private:
  bool is_alone(SteadyTime now) const;
  void note_queued(std::chrono::microseconds delay);
  void note_least(std::chrono::microseconds took, SteadyTime now);

  const std::size_t most_requests_;
  const std::int64_t most_documents_;
  double in_flight_;                   // documents that jobs may have, next to small changes
  std::size_t side_by_side_ = 1;       // requests that jobs may have, next to small changes
  int calm_ = 0;                       // small changes in a row that found a thread free
  double document_microseconds_ = 20;  // to read one; a moving average
  SteadyTime last_small_{};
  std::array<std::chrono::microseconds, 4> latest_{};
  std::size_t next_latest_ = 0;
  // The least delay of this minute and of the one before: a cluster that has become slower would seem busy
  // for ever otherwise.
  std::chrono::microseconds least_{};
  std::chrono::microseconds least_before_{};
  SteadyTime least_since_{};
};

}  // namespace lockstep
