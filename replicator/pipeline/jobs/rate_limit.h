// Keeps a job from reading more than so many documents a second, in small pages, so that its load on both
// servers is even. No threads.
#pragma once

#include <cstdint>

#include "replicator/clock.h"

namespace lockstep {

class RateLimit {
 public:
  /// At least 1 document a second. From `now` on, at no moment more than that many were read.
  RateLimit(std::int64_t per_second, SteadyTime now);

  std::int64_t per_second() const { return per_second_; }

  /// The size of the next page in documents; 0: none yet.
  std::int64_t documents(SteadyTime now) const;

  /// A page of so many was read.
  void took(std::int64_t documents, SteadyTime now);

 private:
  std::int64_t page() const;
  SteadyTime::duration time_of(std::int64_t documents) const;

  std::int64_t per_second_;
  SteadyTime next_;  // when the next page may be read
};

}  // namespace lockstep
