#include "tests/bench/support/bulks_in_flight.h"

#include <algorithm>
#include <chrono>
#include <exception>

namespace lockstep::benchmarks {
namespace {

constexpr std::chrono::milliseconds kPeriod{20};

std::int64_t bulks_now(support::ElasticsearchServer& server) {
  std::int64_t bulks = 0;
  const nlohmann::json tasks = server.expect("GET", "/_tasks?actions=indices:data/write/bulk");
  for (const auto& node : tasks.at("nodes")) bulks += static_cast<std::int64_t>(node.at("tasks").size());
  return bulks;
}

}  // namespace

BulksInFlight::BulksInFlight() : asker_([this](const std::stop_token& stop) { ask(stop); }) {}

double BulksInFlight::average() {
  asker_.request_stop();
  asker_.join();
  if (error_) std::rethrow_exception(error_);
  return static_cast<double>(bulks_) / static_cast<double>(std::max<std::int64_t>(1, answers_));
}

void BulksInFlight::ask(const std::stop_token& stop) {
  try {
    support::ElasticsearchServer server;
    while (!stop.stop_requested()) {
      const std::int64_t bulks = bulks_now(server);
      bulks_ += bulks;
      if (bulks > 0) ++answers_;
      std::this_thread::sleep_for(kPeriod);
    }
  } catch (...) {
    error_ = std::current_exception();
  }
}

}  // namespace lockstep::benchmarks
