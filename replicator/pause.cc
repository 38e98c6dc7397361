#include "replicator/pause.h"

#include <condition_variable>

#include "replicator/mutex.h"

namespace lockstep {

bool pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  Mutex mutex;
  std::condition_variable_any wake;
  MutexLock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace lockstep
