// POST /wait: parameters into a request, the answer into a status and JSON. A waiting caller holds a thread
// of the HTTP server, so no more than kMostWaiters are let in, and the server has threads beyond them.
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

  /// Blocks until it is known, at most as long as the parameter `timeout` says. From several threads.
  Reply answer(const Parameters& parameters);

  /// Ends the waits that are on their way and all later ones.
  void stop() { stop_.request_stop(); }

 private:
  Waiter& waiter_;
  std::stop_source stop_;
  std::counting_semaphore<kMostWaiters> free_{kMostWaiters};
};

}  // namespace lockstep
