// How much the jobs may take of Elasticsearch and of the pipeline's thread: everything while nothing else is
// going on, and beside small changes what leaves these quick. How many threads a cluster has is not known, so
// the bound is found by the delay that small changes see, with a target above the least delay seen, as LEDBAT
// does it for packets (RFC 6817). No threads.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "replicator/clock.h"

namespace lockstep {

class BackgroundShare {
 public:
  /// At most so many requests of so many documents are in flight for jobs, and as many while nothing else is.
  BackgroundShare(std::size_t most_requests, std::int64_t most_documents);

  /// A small request of the tail took so long, from its submission to its last outcome.
  void small_change_took(std::chrono::microseconds took, SteadyTime now);

  /// A page of so many documents took so long to read and to render.
  void page_took(std::int64_t documents, std::chrono::microseconds took);

  /// Documents of the next page: the tail waits while it is read.
  std::int64_t documents(SteadyTime now) const;

  /// Requests that may be in flight for jobs; at least 1.
  std::size_t requests(SteadyTime now) const;

 private:
  bool is_alone(SteadyTime now) const;
  void note_least(std::chrono::microseconds took, SteadyTime now);

  const std::size_t most_requests_;
  const std::int64_t most_documents_;
  double in_flight_;                   // documents that may be, beside small changes
  double document_microseconds_ = 20;  // to read one; a moving average
  SteadyTime last_small_{};
  std::array<std::chrono::microseconds, 4> latest_{};
  std::size_t next_latest_ = 0;
  // The least delay of this minute and of the one before, so that a cluster that has become slower is not
  // taken for one that is busy for ever.
  std::chrono::microseconds least_{};
  std::chrono::microseconds least_before_{};
  SteadyTime least_since_{};
};

}  // namespace lockstep
