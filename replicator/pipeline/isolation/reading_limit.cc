#include "replicator/pipeline/isolation/reading_limit.h"

#include <utility>

#include "replicator/quantity.h"

namespace lockstep {
namespace {

// A cancellation that came too early for the statement is asked for again.
constexpr std::chrono::milliseconds kCancelAgain{500};

ViewTooSlow too_slow(const AppliedIndex& index, std::chrono::milliseconds limit) {
  return {{"reading documents of " + index.alias,
           "it took longer than " + duration_text(limit) +
               ", because of a lock or of a row that takes long to render",
           "", Retry::kLater, Server::kSource},
          index.id};
}

}  // namespace

ReadingLimit::ReadingLimit(std::function<bool()> cancel)
    : cancel_(std::move(cancel)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void ReadingLimit::run(const AppliedIndex& index, std::chrono::milliseconds limit,
                       const std::function<void()>& read) {
  begin(limit);
  try {
    read();
  } catch (...) {
    if (end()) throw too_slow(index, limit);
    throw;
  }
  if (end()) throw too_slow(index, limit);
}

// The thread is woken only when it would wake too late by itself. Else it finds the new end when the old one
// has come.
void ReadingLimit::begin(std::chrono::milliseconds limit) {
  const MutexLock lock(mutex_);
  end_ = steady_now() + limit;
  is_cancelled_ = false;
  if (*end_ < waits_until_) begun_.notify_one();
}

bool ReadingLimit::end() {
  const MutexLock lock(mutex_);  // a cancellation that is on its way ends first
  end_.reset();
  return is_cancelled_;
}

void ReadingLimit::watch(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    waits_until_ = SteadyTime::max();
    begun_.wait(lock, stop, [this]() LOCKSTEP_REQUIRES(mutex_) { return end_.has_value(); });
    if (!end_) continue;
    waits_until_ = *end_;
    begun_.wait_until(lock, stop, waits_until_,
                      [this]() LOCKSTEP_REQUIRES(mutex_) { return end_ && *end_ < waits_until_; });
    if (stop.stop_requested() || !end_ || steady_now() < *end_) continue;
    is_cancelled_ = cancel_();
    end_ = is_cancelled_ ? std::optional(steady_now() + kCancelAgain) : std::nullopt;
  }
}

}  // namespace lockstep
