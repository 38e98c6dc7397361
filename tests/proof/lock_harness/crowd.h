// The client processes, and the harm that comes to them from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lockstep::harness {

class Crowd {
 public:
  /// Starts each client with `arguments` and `--seed N`. Stops a client for up to `stop`.
  Crowd(std::vector<std::string> arguments, int clients, std::uint64_t seed, std::chrono::milliseconds stop);

  /// Kills and stops clients, and replaces the dead, until `end`; then kills all of them.
  void live(std::chrono::steady_clock::time_point end);

  std::int64_t killed = 0;
  std::int64_t stopped = 0;
  std::int64_t died = 0;                      ///< by their own fate, at a point of the protocol
  std::int64_t slept = 0;                     ///< the same
  std::map<std::string, std::string> staged;  ///< contents of puts, by operation
  std::vector<std::string> faults;

 private:
  std::unique_ptr<support::Program> start();
  void harm(support::Program& client);
  void bury(std::unique_ptr<support::Program>& client);
  void listen(const support::Program& client);

  const std::vector<std::string> arguments_;
  const std::chrono::milliseconds stop_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<support::Program>> clients_;
};

}  // namespace lockstep::harness
