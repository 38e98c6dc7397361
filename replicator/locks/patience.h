// How long a step is retried while a server is away, starting or overloaded.
#pragma once

#include <chrono>
#include <random>
#include <stop_token>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/error.h"

namespace lockstep {

class Patience {
 public:
  /// It ends when `limit` has passed from now on, or when a stop is requested.
  explicit Patience(std::chrono::milliseconds limit, std::stop_token stop = {});

  /// The rest of the limit; 0: nothing.
  std::chrono::milliseconds left() const;

  /// Does `step` again while it fails with a retryable Error. Once the patience has ended, throws the last
  /// one as exhausted() has it.
  template <class Step>
  auto insist(const Step& step) const {
    Backoff backoff(kBackoff, std::random_device()());
    while (true) {
      try {
        return step();
      } catch (const Error& error) {
        if (!error.retryable()) throw;
        if (!wait(backoff.next())) throw exhausted(error);
      }
    }
  }

  /// The error, with how long it was retried, unless it was not.
  Error exhausted(const Error& error) const;

 private:
  static constexpr Backoff::Limits kBackoff{std::chrono::milliseconds(50), std::chrono::milliseconds(1'000)};

  /// False if the patience has ended.
  bool wait(std::chrono::milliseconds time) const;

  const std::chrono::milliseconds limit_;
  const SteadyTime end_;
  const std::stop_token stop_;
};

}  // namespace lockstep
