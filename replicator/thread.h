// A thread, of the machine or of the scheduler that is set (scheduler.h). As std::jthread: its end is asked
// for and waited for when it is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "replicator/scheduler.h"

namespace lockstep {

class Thread {
 public:
  /// None.
  Thread() = default;

  /// Calls `body` alongside the caller. An exception of it ends the process.
  explicit Thread(std::function<void(const std::stop_token&)> body) : stop_(std::in_place) {
    auto run = [body = std::move(body), stop = stop_->get_token()] { body(stop); };
    if (Scheduler* const scheduler = Scheduler::current())
      number_ = scheduler->post(std::move(run));
    else
      thread_ = std::thread(std::move(run));
  }
  ~Thread() { end(); }

  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  Thread(Thread&& other) noexcept { swap(other); }
  Thread& operator=(Thread&& other) noexcept {
    Thread gone(std::move(other));
    swap(gone);
    return *this;
  }

  void request_stop() {
    if (stop_) stop_->request_stop();
  }

  /// Waits for its end; at once if there is none.
  void join() {
    if (thread_.joinable()) thread_.join();
    if (number_ != 0) Scheduler::current()->join(std::exchange(number_, 0));
  }

 private:
  void end() {
    request_stop();
    join();
  }
  void swap(Thread& other) {
    std::swap(stop_, other.stop_);
    std::swap(thread_, other.thread_);
    std::swap(number_, other.number_);
  }

  std::optional<std::stop_source> stop_;
  std::thread thread_;
  std::uint64_t number_ = 0;  // of the scheduler's; 0: none
};

}  // namespace lockstep
