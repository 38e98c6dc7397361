// The seam under threads, waiting and time. In the program they are the machine's, and there is no scheduler.
// A simulation sets one: then all threads are its own, one of them runs at a time until it waits, and time
// passes only while all of them wait, so that the same seed gives the same run.
//
// Thread (thread.h), Mutex (mutex.h), Condition (condition.h), in_background() (background.h) and
// steady_now() (clock.h) are all that the pipeline uses.
#pragma once

#include <cstdint>
#include <functional>

#include "replicator/clock.h"

namespace lockstep {

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// The one that is set; null: the machine's threads.
  static Scheduler* current() { return current_; }

  /// REQUIRES: no thread runs that was started before, but the caller's.
  static void set(Scheduler* scheduler) { current_ = scheduler; }

  virtual SteadyTime now() = 0;

  /// For random choices.
  virtual std::uint32_t random() = 0;

  /// Runs `body` alongside the caller. Returns the thread's number.
  virtual std::uint64_t post(std::function<void()> body) = 0;

  /// Until the thread's body has ended.
  virtual void join(std::uint64_t thread) = 0;

  /// Until wake() of the same key, or until a time. The caller looks for the cause itself.
  virtual void wait(const void* key, SteadyTime until) = 0;

  /// Ends all waits for the key.
  virtual void wake(const void* key) = 0;

 private:
  static inline Scheduler* current_ = nullptr;
};

/// A seed for random choices.
std::uint32_t random_seed();

}  // namespace lockstep
