// POST /wait: turns parameters into a request, and its answer into a status and JSON. A waiting client holds
// a thread of the HTTP server. So at most kMostWaiters wait at a time, and the server has further threads.
#pragma once

#include <chrono>
#include <map>
#include <semaphore>
#include <stop_token>
#include <string>

#include "replicator/pipeline/waiter.h"

namespace lockstep {

class WaitEndpoint {
 public:
  static constexpr int kMostWaiters = 16;
  static constexpr std::chrono::milliseconds kDefaultTimeout{30'000};
  static constexpr std::chrono::milliseconds kLongestTimeout{300'000};

  struct Reply {
    int status = 200;
    std::string body = {};  ///< JSON
  };
  using Parameters = std::multimap<std::string, std::string>;

  explicit WaitEndpoint(Waiter& waiter) : waiter_(waiter) {}

  /// Waits, for at most the parameter `timeout`. Several threads may call it at once.
  Reply answer(const Parameters& parameters);

  /// Ends the waits under way, and all later ones at once.
  void stop() { stop_.request_stop(); }

 private:
  Waiter& waiter_;
  std::stop_source stop_;
  std::counting_semaphore<kMostWaiters> free_{kMostWaiters};
};

}  // namespace lockstep
