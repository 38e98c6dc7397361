#include "tests/bench/support/bare_writes.h"

#include <algorithm>
#include <thread>

namespace lockstep::benchmarks {

std::vector<double> bare_writes(int samples, std::chrono::milliseconds period) {
  const support::ElasticsearchIndex index("floor");
  index.server().expect("PUT", "/" + index.alias(), R"({"settings":{"number_of_replicas":0}})");
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(std::to_string(i));
  return bare_writes(index, ids, samples, period);
}

std::vector<double> bare_writes(const support::ElasticsearchIndex& index, const std::vector<std::string>& ids,
                                int samples, std::chrono::milliseconds period) {
  std::vector<double> milliseconds;
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < kWarmUp + samples; ++i) {
    std::this_thread::sleep_until(next);
    next = std::max(next, std::chrono::steady_clock::now()) + period;
    const std::string& id = ids[static_cast<std::size_t>(i) % ids.size()];
    const std::string title = "title " + std::to_string(i);
    const auto begin = std::chrono::steady_clock::now();
    index.server().expect("POST", "/" + index.alias() + "/_bulk",
                          R"({"index":{"_id":")" + id + "\"}}\n{\"title\":\"" + title + "\"}\n");
    for (bool shown = false; !shown;) {
      const auto document = index.get(id);
      shown = document && document->json.find(title) != std::string::npos;
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    if (i >= kWarmUp) milliseconds.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  return milliseconds;
}

}  // namespace lockstep::benchmarks
