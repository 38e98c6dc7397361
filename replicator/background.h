// A call alongside the caller, and its result. As std::async() and std::future, under a scheduler, too
// (scheduler.h).
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "replicator/condition.h"
#include "replicator/mutex.h"
#include "replicator/thread.h"

namespace lockstep {

/// For one thread. Its end waits for that of the call.
template <typename Result>
class Background {
 public:
  /// None.
  Background() = default;

  /// Begins the call. `on_end` is called after it, alongside the caller, too.
  template <typename Call>
  Background(Call call, std::function<void()> on_end) : state_(std::make_unique<State>()) {
    state_->thread = Thread([state = state_.get(), call = std::make_shared<Call>(std::move(call)),
                             on_end = std::move(on_end)](const std::stop_token& /*stop*/) mutable {
      std::optional<Result> result;
      std::exception_ptr failure;
      try {
        result.emplace((*call)());
      } catch (...) {
        failure = std::current_exception();
      }
      call.reset();
      {
        const MutexLock lock(state->mutex);
        state->result = std::move(result);
        state->failure = failure;
        state->has_ended = true;
      }
      state->ended.notify_all();
      if (on_end) on_end();
    });
  }

  /// Whether there is a call that get() has not taken.
  bool valid() const { return state_ != nullptr; }

  /// Whether it has ended, waiting for that for a while. REQUIRES: valid().
  bool has_ended(std::chrono::milliseconds at_most = {}) const {
    MutexLock lock(state_->mutex);
    return state_->ended.wait_for(lock, at_most,
                                  [&]() LOCKSTEP_REQUIRES(state_->mutex) { return state_->has_ended; });
  }

  /// Waits for its end. REQUIRES: valid().
  void wait() const {
    MutexLock lock(state_->mutex);
    state_->ended.wait(lock, [&]() LOCKSTEP_REQUIRES(state_->mutex) { return state_->has_ended; });
  }

  /// Waits for its end, and takes its result; throws its exception. REQUIRES: valid().
  Result get() {
    wait();
    const std::unique_ptr<State> state = std::move(state_);
    state->thread.join();
    const MutexLock lock(state->mutex);
    if (state->failure) std::rethrow_exception(state->failure);
    return *std::move(state->result);
  }

 private:
  struct State {
    Mutex mutex;
    Condition ended;
    std::optional<Result> result LOCKSTEP_GUARDED_BY(mutex);
    std::exception_ptr failure LOCKSTEP_GUARDED_BY(mutex);
    bool has_ended LOCKSTEP_GUARDED_BY(mutex) = false;
    Thread thread;  // uses all of the above
  };

  std::unique_ptr<State> state_;
};

/// Begins a call, and calls `on_end` behind it.
template <typename Call>
auto in_background(Call call, std::function<void()> on_end = {}) {
  return Background<decltype(call())>(std::move(call), std::move(on_end));
}

}  // namespace lockstep
