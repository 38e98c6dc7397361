#include "tests/proof/lock_harness/crowd.h"

#include <csignal>
#include <sstream>
#include <thread>
#include <utility>

namespace lockstep::harness {

using std::chrono::milliseconds;
using support::Program;

Crowd::Crowd(std::vector<Command> commands, int clients, std::uint64_t seed, milliseconds stop)
    : commands_(std::move(commands)), stop_(stop), random_(seed) {
  for (int i = 0; i < clients; ++i) clients_.push_back(start(clients_.size()));
}

void Crowd::live(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(50 + random_() % 400));
    harm(*clients_[random_() % clients_.size()]);
    for (std::size_t place = 0; place < clients_.size(); ++place) {
      if (!clients_[place]->running()) bury(place);
    }
  }
  for (std::unique_ptr<Program>& client : clients_) {
    client->kill();
    listen(*client);
  }
}

std::unique_ptr<Program> Crowd::start(std::size_t place) {
  Command command = commands_[place % commands_.size()];
  command.arguments.insert(command.arguments.end(), {"--seed", std::to_string(random_() >> 1)});
  return std::make_unique<Program>(command.file, command.arguments);
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

void Crowd::bury(std::size_t place) {
  constexpr int kKilled = 128 + SIGKILL;
  Program& client = *clients_[place];
  const std::optional<int> code = client.wait(std::chrono::seconds(10));
  if (code != kKilled) faults.push_back("a client ended by itself: " + client.err());
  listen(client);
  clients_[place] = start(place);
}

void Crowd::listen(const Program& client) {
  std::istringstream lines(client.out());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::string name;
    std::string value;
    words >> what >> name;
    if (what == "fault") faults.push_back(line);
    if (what == "opens") ++heard.opened;
    if (what == "done") ++heard.done;
    if (what == "dies") ++heard.died;
    if (what == "sleeps") ++heard.slept;
    if (what == "staged" && words >> value) heard.staged[name] = value;
    if (what == "wrote" && words >> value) heard.written[name].insert(value);
  }
}

}  // namespace lockstep::harness
