#include "replicator/pause.h"

#include "replicator/condition.h"
#include "replicator/mutex.h"

namespace lockstep {

bool pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  Mutex mutex;
  Condition wake;
  MutexLock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace lockstep
