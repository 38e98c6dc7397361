// How long it takes to prove that an index equals its view, and in turns with it, how long Elasticsearch
// takes to give all its documents to somebody who does nothing with them.
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

constexpr const char* kBareScan = "a bare scan of all documents";

// The value of a text field of the reply, which has no escapes; empty when it is not there.
std::string text_of(const std::string& reply, std::string_view field) {
  const std::string name = '"' + std::string(field) + "\":\"";
  const std::size_t at = reply.find(name);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size();
  return reply.substr(begin, reply.find('"', begin) - begin);
}

double seconds_of_a_bare_scan(support::ElasticsearchIndex& index) {
  const std::string only = "filter_path=_scroll_id,hits.hits._id,hits.hits._version,hits.hits._source";
  const auto begin = std::chrono::steady_clock::now();
  auto reply = index.server().request("POST", "/" + index.alias() + "/_search?scroll=5m&" + only,
                                      R"({"size":2000,"sort":["_doc"],"version":true})");
  while (reply.status == 200 && reply.body.find("\"_id\"") != std::string::npos) {
    reply =
        index.server().request("POST", "/_search/scroll?" + only,
                               R"({"scroll":"5m","scroll_id":")" + text_of(reply.body, "_scroll_id") + "\"}");
  }
  if (reply.status != 200) throw std::runtime_error("a bare scan: " + reply.body.substr(0, 1000));
  index.server().request("DELETE", "/_search/scroll",
                         R"({"scroll_id":")" + text_of(reply.body, "_scroll_id") + "\"}");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  let_merges_end();
  ServerCpu cpu(work.database());
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    cpu.restart();
    const double bare = seconds_of_a_bare_scan(work.index());
    report.add(kBareScan, "s", bare);
    report.add(std::string(kBareScan) + ": CPU of Elasticsearch", "s", cpu.elasticsearch());
    cpu.restart();
    const support::MeasuredRun verified =
        support::measured_run(work.pipeline(), "verify", {}, kPatienceForWork);
    report.add("verify", "s", verified.seconds);
    report.add("verify / a bare scan", "", verified.seconds / bare);
    report.add("documents compared", "documents/s", static_cast<double>(work.posts()) / verified.seconds);
    report.add("CPU of lockstep", "s", verified.cpu_seconds);
    report.add("CPU of PostgreSQL", "s", cpu.postgresql());
    report.add("CPU of Elasticsearch", "s", cpu.elasticsearch());
    report.add("peak memory of lockstep", "MiB", verified.peak_memory);
  }
  report.control(kBareScan);
  report.target("verify", Report::Bound::kAtMost, 30);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"verify",
       "Compares an index with its view, document by document.",
       {{"rounds", 3, 1, "how often it is measured"}, {"documents", 1'000'000, 5'000, "rows of the view"}},
       lockstep::benchmarks::run},
      argc, argv);
}
