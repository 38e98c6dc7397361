#include "tests/proof/chaos/probe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep::chaos {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::int64_t number(pqxx::connection& connection, const char* sql) {
  return support::execute(connection, sql).at(0)[0].as<std::int64_t>();
}

}  // namespace

Probe::Probe(const support::PostgresDatabase& database, std::string alias)
    : database_(database), alias_(std::move(alias)), thread_([this] { run(); }) {}

Probe::~Probe() {
  stopping_ = true;
  thread_.join();
}

void Probe::run() {
  std::unique_ptr<pqxx::connection> connection;
  while (!stopping_) {
    try {
      if (connection == nullptr) connection = database_.connect();
      sample(*connection);
    } catch (const pqxx::failure&) {
      connection.reset();
    }
    std::this_thread::sleep_for(200ms);
  }
}

bool Probe::shows(std::int64_t n) {
  try {
    const auto reply = elasticsearch_.request("GET", "/" + alias_ + "/_source/1");
    return reply.status == 200 && reply.json().at("n") == n;
  } catch (const std::exception&) {
    return false;  // Elasticsearch is away
  }
}

// The database may lose the change again, by a crash or by going back to an older state; then the document
// has to show what the row says then.
void Probe::sample(pqxx::connection& connection) {
  std::int64_t wanted = number(connection, "update chaos.probe set n = n + 1 where id = 1 returning n");
  const auto begin = Clock::now();
  auto asked = begin;
  std::unique_ptr<pqxx::connection> again;
  while (!stopping_) {
    if (shows(wanted)) {
      const std::lock_guard lock(mutex_);
      delays_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin));
      return;
    }
    std::this_thread::sleep_for(5ms);
    if (Clock::now() - asked < 1s) continue;
    try {
      if (again == nullptr) again = database_.connect();
      wanted = number(*again, "select n from chaos.probe where id = 1");
    } catch (const pqxx::failure&) {
      again.reset();
    }
    asked = Clock::now();
  }
}

Probe::Delays Probe::delays() const {
  const std::lock_guard lock(mutex_);
  if (delays_.empty()) return {};
  std::vector<std::chrono::milliseconds> sorted = delays_;
  std::sort(sorted.begin(), sorted.end());
  return {sorted.size(), sorted[sorted.size() / 2], sorted.back()};
}

}  // namespace lockstep::chaos
