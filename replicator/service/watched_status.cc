#include "replicator/service/watched_status.h"

#include <exception>
#include <utility>

#include "replicator/one_line.h"
#include "replicator/pause.h"

namespace lockstep {

WatchedStatus::WatchedStatus(std::function<std::unique_ptr<StatusReader>()> open_reader, const Clock& clock,
                             Intervals intervals)
    : open_reader_(std::move(open_reader)),
      clock_(clock),
      intervals_(intervals),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

WatchedStatus::Look WatchedStatus::look() {
  const MutexLock lock(mutex_);
  looked_at_ = clock_.now();
  looked_.notify_one();
  return look_;
}

void WatchedStatus::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!is_watched()) {
      reader_.reset();  // without the lock: the server may take its time
      MutexLock lock(mutex_);
      looked_.wait(lock, stop, [this]() LOCKSTEP_REQUIRES(mutex_) { return was_looked_at(); });
    }
    if (stop.stop_requested()) return;
    read();
    pause(intervals_.read, stop);
  }
}

bool WatchedStatus::is_watched() {
  const MutexLock lock(mutex_);
  return was_looked_at();
}

bool WatchedStatus::was_looked_at() const {
  return looked_at_ && clock_.now() - *looked_at_ < intervals_.interest;
}

void WatchedStatus::read() {
  try {
    if (!reader_) reader_ = open_reader_();
    Look fresh{true, reader_->read(), clock_.now(), ""};
    if (!fresh.status) fresh.trouble = "the pipeline has not been applied";
    const MutexLock lock(mutex_);
    look_ = std::move(fresh);
  } catch (const std::exception& error) {
    reader_.reset();
    const MutexLock lock(mutex_);
    look_.is_known = true;
    look_.trouble = in_one_line(error.what());
  }
}

}  // namespace lockstep
