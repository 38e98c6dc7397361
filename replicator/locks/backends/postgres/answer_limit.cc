#include "replicator/locks/backends/postgres/answer_limit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lockstep {

AnswerLimit::AnswerLimit(int socket)
    : socket_(::fcntl(socket, F_DUPFD_CLOEXEC, 0)),  // libpq may close its own at any time
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

AnswerLimit::~AnswerLimit() {
  thread_.request_stop();
  thread_.join();
  if (socket_ >= 0) ::close(socket_);
}

void AnswerLimit::begin(std::chrono::milliseconds limit) {
  const MutexLock lock(mutex_);
  end_ = SystemClock().now() + limit;
  wake_.notify_one();
}

bool AnswerLimit::end() {
  const MutexLock lock(mutex_);
  end_.reset();
  return passed_;
}

void AnswerLimit::watch(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (wake_.wait(lock, stop, [this]() LOCKSTEP_REQUIRES(mutex_) { return end_.has_value(); })) {
    const SteadyTime end = *end_;
    if (wake_.wait_until(lock, stop, end, [&]() LOCKSTEP_REQUIRES(mutex_) { return end_ != end; }) ||
        stop.stop_requested())
      continue;
    passed_ = true;
    end_.reset();
    ::shutdown(socket_, SHUT_RDWR);
  }
}

}  // namespace lockstep
