#include "tests/bench/support/bare_writes.h"

#include <algorithm>
#include <string>
#include <thread>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::benchmarks {

std::vector<double> bare_writes(int samples, std::chrono::milliseconds period) {
  support::ElasticsearchIndex index("floor");
  index.server().expect("PUT", "/" + index.alias(), R"({"settings":{"number_of_replicas":0}})");
  std::vector<double> milliseconds;
  auto next = std::chrono::steady_clock::now();
  for (int i = -kWarmUp; i < samples; ++i) {
    std::this_thread::sleep_until(next);
    next = std::max(next, std::chrono::steady_clock::now()) + period;
    const std::string title = "title " + std::to_string(i);
    const auto begin = std::chrono::steady_clock::now();
    index.server().expect(
        "POST", "/" + index.alias() + "/_bulk",
        R"({"index":{"_id":")" + std::to_string(i % 100) + "\"}}\n{\"title\":\"" + title + "\"}\n");
    while (index.get(std::to_string(i % 100))->json.find(title) == std::string::npos) continue;
    const auto took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) milliseconds.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  return milliseconds;
}

}  // namespace lockstep::benchmarks
