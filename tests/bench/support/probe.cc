#include "tests/bench/support/probe.h"

#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 10min;  // what does not step aside lets a change wait for all of a large one

}  // namespace

Probe::Probe(Execute execute, const support::ElasticsearchIndex& index)
    : execute_(std::move(execute)), index_(index) {}

Probe::Probe(const support::PostgresDatabase& database, const support::ElasticsearchIndex& index)
    : Probe([connection = std::shared_ptr(database.connect())](
                const std::string& sql) { support::execute(*connection, sql); },
            index) {}

bool Probe::shows(const Change& change) {
  const std::optional<support::StoredDocument> document = index_.get(change.id);
  if (!change.expected) return !document;
  return document && document->json.find(*change.expected) != std::string::npos;
}

double Probe::change(const Change& change) {
  execute_(change.sql);
  const auto begin = Clock::now();
  while (!shows(change)) {
    if (Clock::now() - begin > kPatience) throw std::runtime_error("a change did not arrive: " + change.sql);
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::vector<double> Probe::changes(int samples, std::chrono::milliseconds period,
                                   const std::function<Change(int)>& make) {
  std::vector<double> milliseconds;
  auto next = Clock::now();
  for (int i = 0; i < samples; ++i) {
    std::this_thread::sleep_until(next);
    next = std::max(next, Clock::now()) + period;
    milliseconds.push_back(change(make(i)));
  }
  return milliseconds;
}

}  // namespace lockstep::benchmarks
