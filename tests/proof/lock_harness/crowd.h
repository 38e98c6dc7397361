// The client processes, and the harm that comes to them from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lockstep::harness {

/// How a client is started.
struct Command {
  std::string file;
  std::vector<std::string> arguments;
};

/// What the clients have reported of themselves.
struct Heard {
  std::int64_t opened = 0;
  std::int64_t done = 0;
  std::int64_t died = 0;                                 ///< by their own fate, at a point of the protocol
  std::int64_t slept = 0;                                ///< the same
  std::map<std::string, std::string> staged;             ///< contents of puts, by operation
  std::map<std::string, std::set<std::string>> written;  ///< acknowledged entries, by document
};

class Crowd {
 public:
  /// Starts each client with one of the commands, in turn, and `--seed N`. Stops a client for up to `stop`.
  Crowd(std::vector<Command> commands, int clients, std::uint64_t seed, std::chrono::milliseconds stop);

  /// Kills and stops clients, and replaces the dead, until `end`; then kills all of them.
  void live(std::chrono::steady_clock::time_point end);

  std::int64_t killed = 0;
  std::int64_t stopped = 0;
  Heard heard;
  std::vector<std::string> faults;

 private:
  std::unique_ptr<support::Program> start(std::size_t place);
  void harm(support::Program& client);
  /// Another one takes its place.
  void bury(std::size_t place);
  void listen(const support::Program& client);

  const std::vector<Command> commands_;
  const std::chrono::milliseconds stop_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<support::Program>> clients_;
};

}  // namespace lockstep::harness
