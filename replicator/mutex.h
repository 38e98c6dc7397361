// A mutex whose use clang checks at compile time (-Wthread-safety, an error). A shared member names the mutex
// that guards it, a function the mutex that its caller must hold. The standard library's mutexes carry no
// such annotations. After "mutex.h" in https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
//
//   Condition came_;
//   Mutex mutex_;
//   std::deque<Job> queue_ LOCKSTEP_GUARDED_BY(mutex_);
//   bool has_room() const LOCKSTEP_REQUIRES(mutex_);
//
//   MutexLock lock(mutex_);
//   came_.wait(lock, [this]() LOCKSTEP_REQUIRES(mutex_) { return !queue_.empty(); });
//
// Not checked: constructors and destructors, and accesses through a pointer or a reference that was taken
// under the lock. A lambda is checked as a function of its own: it holds nothing unless annotated.
#pragma once

#include <mutex>

#include "replicator/scheduler.h"

// Prefixed, since these headers are installed, too; g++ knows none of these attributes.
#ifdef __clang__
#define LOCKSTEP_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define LOCKSTEP_THREAD_SAFETY(attribute)
#endif

/// Of a member or variable: it is used only while the mutex is held. A struct within a class names the mutex
/// of that class as &Class::mutex_.
#define LOCKSTEP_GUARDED_BY(mutex) LOCKSTEP_THREAD_SAFETY(guarded_by(mutex))
/// Of a function or lambda: its caller holds the mutex.
#define LOCKSTEP_REQUIRES(...) LOCKSTEP_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// Of a mutex: if both are held, it was locked before the other one.
#define LOCKSTEP_ACQUIRED_BEFORE(mutex) LOCKSTEP_THREAD_SAFETY(acquired_before(mutex))

namespace lockstep {

class LOCKSTEP_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() LOCKSTEP_THREAD_SAFETY(acquire_capability()) {
    Scheduler* const scheduler = Scheduler::current();
    if (scheduler == nullptr) return mutex_.lock();
    while (is_locked_) scheduler->wait(this, SteadyTime::max());
    is_locked_ = true;
  }
  void unlock() LOCKSTEP_THREAD_SAFETY(release_capability()) {
    Scheduler* const scheduler = Scheduler::current();
    if (scheduler == nullptr) return mutex_.unlock();
    is_locked_ = false;
    scheduler->wake(this);
  }

 private:
  std::mutex mutex_;
  bool is_locked_ = false;  // under a scheduler
};

/// Holds the mutex as long as it lives, but between unlock() and lock(). A Condition (condition.h) waits with
/// it.
class LOCKSTEP_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LOCKSTEP_THREAD_SAFETY(acquire_capability(mutex)) : lock_(mutex) {}
  ~MutexLock() LOCKSTEP_THREAD_SAFETY(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() LOCKSTEP_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }
  void unlock() LOCKSTEP_THREAD_SAFETY(release_capability()) { lock_.unlock(); }

 private:
  std::unique_lock<Mutex> lock_;
};

}  // namespace lockstep
