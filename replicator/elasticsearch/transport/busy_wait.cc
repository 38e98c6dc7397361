#include "replicator/elasticsearch/transport/busy_wait.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr Backoff::Limits kBetweenTries{.first = 100ms, .cap = 5s};

}  // namespace

BusyWait::BusyWait(const WhenBusy& when_busy)
    : when_busy_(when_busy), backoff_(kBetweenTries, std::random_device()()) {}

void BusyWait::before_next_try(const Error& busy) {
  if (when_busy_.limit == 0ms) throw busy;
  const SteadyTime now = SystemClock().now();
  if (!begin_) begin_ = now;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - *begin_);
  if (waited >= when_busy_.limit) {
    Error::Parts parts = busy.parts();
    parts.cause += " (asked again for " +
                   std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) + " s)";
    throw Error(std::move(parts));
  }
  if (when_busy_.waiting) when_busy_.waiting(busy, waited);
  std::this_thread::sleep_for(std::min(backoff_.next(), when_busy_.limit - waited));
}

void BusyWait::over() {
  backoff_.reset();
  begin_.reset();
}

}  // namespace lockstep
