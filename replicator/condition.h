// A condition variable, of the machine or of the scheduler that is set (scheduler.h). Its waits are those of
// std::condition_variable_any, with predicates that are called with the lock held.
#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>
#include <utility>

#include "replicator/mutex.h"

// The caller's predicate names the mutex that it needs, and the caller holds it.
#define LOCKSTEP_CALLS_PREDICATE LOCKSTEP_THREAD_SAFETY(no_thread_safety_analysis)

namespace lockstep {

class Condition {
 public:
  void notify_one() {
    if (Scheduler* const scheduler = Scheduler::current()) return scheduler->wake(this);
    changed_.notify_one();
  }
  void notify_all() {
    if (Scheduler* const scheduler = Scheduler::current()) return scheduler->wake(this);
    changed_.notify_all();
  }

  /// Until a notification, or for no reason.
  void wait(MutexLock& lock) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() == nullptr) return changed_.wait(lock);
    wait_scheduled(lock, SteadyTime::max());
  }

  /// The same, until a time at most.
  void wait_until(MutexLock& lock, SteadyTime until) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() != nullptr) return wait_scheduled(lock, until);
    changed_.wait_until(lock, until);
  }

  /// Until `is_so()`.
  template <typename Predicate>
  void wait(MutexLock& lock, Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() == nullptr) return changed_.wait(lock, std::move(is_so));
    while (!is_so()) wait_scheduled(lock, SteadyTime::max());
  }

  /// The same, until a time at most. Returns the last result of `is_so()`.
  template <typename Predicate>
  bool wait_until(MutexLock& lock, SteadyTime until, Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() == nullptr) return changed_.wait_until(lock, until, std::move(is_so));
    while (!is_so()) {
      if (steady_now() >= until) return false;
      wait_scheduled(lock, until);
    }
    return true;
  }
  template <typename Predicate>
  bool wait_for(MutexLock& lock, std::chrono::nanoseconds at_most, Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    return wait_until(lock, steady_now() + at_most, std::move(is_so));
  }

  /// The same; a request to stop ends it, too.
  template <typename Predicate>
  bool wait_until(MutexLock& lock, const std::stop_token& stop, SteadyTime until,
                  Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() == nullptr) return changed_.wait_until(lock, stop, until, std::move(is_so));
    const std::stop_callback wakes(stop, [this] { notify_all(); });
    wait_until(lock, until, [&]() LOCKSTEP_CALLS_PREDICATE { return stop.stop_requested() || is_so(); });
    return is_so();
  }
  template <typename Predicate>
  bool wait_for(MutexLock& lock, const std::stop_token& stop, std::chrono::nanoseconds at_most,
                Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    return wait_until(lock, stop, steady_now() + at_most, std::move(is_so));
  }
  template <typename Predicate>
  bool wait(MutexLock& lock, const std::stop_token& stop, Predicate is_so) LOCKSTEP_CALLS_PREDICATE {
    if (Scheduler::current() == nullptr) return changed_.wait(lock, stop, std::move(is_so));
    return wait_until(lock, stop, SteadyTime::max(), std::move(is_so));
  }

 private:
  // No other thread runs between unlock() and wait(), so no notification is missed.
  void wait_scheduled(MutexLock& lock, SteadyTime until) LOCKSTEP_CALLS_PREDICATE {
    lock.unlock();
    Scheduler::current()->wait(this, until);
    lock.lock();
  }

  std::condition_variable_any changed_;
};

}  // namespace lockstep
