#include "tests/proof/lock_harness/crowd.h"

#include <csignal>
#include <sstream>
#include <thread>
#include <utility>

namespace lockstep::harness {

using std::chrono::milliseconds;
using support::Program;

Crowd::Crowd(std::vector<std::string> arguments, int clients, std::uint64_t seed, milliseconds stop)
    : arguments_(std::move(arguments)), stop_(stop), random_(seed) {
  for (int i = 0; i < clients; ++i) clients_.push_back(start());
}

void Crowd::live(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(50 + random_() % 400));
    harm(*clients_[random_() % clients_.size()]);
    for (std::unique_ptr<Program>& client : clients_) {
      if (!client->running()) bury(client);
    }
  }
  for (std::unique_ptr<Program>& client : clients_) {
    client->kill();
    listen(*client);
  }
}

std::unique_ptr<Program> Crowd::start() {
  std::vector<std::string> arguments = arguments_;
  arguments.insert(arguments.end(), {"--seed", std::to_string(random_() >> 1)});
  return std::make_unique<Program>("/proc/self/exe", arguments);
}

void Crowd::harm(Program& client) {
  if (random_() % 3 != 0) {
    ++stopped;
    client.signal(SIGSTOP);
    std::this_thread::sleep_for(milliseconds(random_() % static_cast<std::uint64_t>(stop_.count())));
    client.signal(SIGCONT);
  } else {
    ++killed;
    client.kill();
  }
}

void Crowd::bury(std::unique_ptr<Program>& client) {
  constexpr int kKilled = 128 + SIGKILL;
  const std::optional<int> code = client->wait(std::chrono::seconds(10));
  if (code != kKilled) faults.push_back("a client ended by itself: " + client->err());
  listen(*client);
  client = start();
}

void Crowd::listen(const Program& client) {
  std::istringstream lines(client.out());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::string operation;
    std::string contents;
    words >> what;
    if (what == "dies") ++died;
    if (what == "sleeps") ++slept;
    if (what == "staged" && words >> operation >> contents) staged[operation] = contents;
  }
}

}  // namespace lockstep::harness
