// From a commit's return until a GET by id shows it: with nothing else going on, and while two writers change
// other rows as fast as they can. And until `POST /wait` says that it can be read. Beside them what the way
// through Elasticsearch takes alone.
#include <httplib.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/bench/support/bare_writes.h"
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/statistics.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;

// Milliseconds until the answer, for one change each `period`.
std::vector<double> waits(BlogWork& work, const support::Program& service, int samples,
                          std::chrono::milliseconds period) {
  httplib::Client client(support::http_endpoint(service));
  client.set_keep_alive(true);
  const auto connection = work.database().connect();
  std::vector<double> milliseconds;
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < samples; ++i, next += period) {
    std::this_thread::sleep_until(next);
    const Change change = work.change_of_title(i);
    support::execute(*connection, change.sql);
    const auto begin = std::chrono::steady_clock::now();
    const httplib::Result answer = client.Post("/wait");
    const auto took = std::chrono::steady_clock::now() - begin;
    if (!answer || answer->status != 200) throw std::runtime_error("POST /wait was not answered by 200");
    if (work.index().get(change.id)->json.find(*change.expected) == std::string::npos)
      throw std::runtime_error("POST /wait was answered before the change could be read");
    milliseconds.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  return milliseconds;
}

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.pipeline().set_more("[http]\nlisten = '127.0.0.1:0'\n");
  work.begin_anew();
  work.catch_up();
  const auto program = work.follow();
  let_merges_end();
  Probe probe(work.database(), work.index());
  const std::chrono::milliseconds period = 1000ms / parameters["per_second"];
  const auto change = [&](int i) { return work.change_of_title(i); };
  const auto samples = static_cast<int>(parameters["samples"]);
  probe.changes(kWarmUp, period, change);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    const std::vector<double> bare = bare_writes(samples, period);
    report.add_distribution("a bare bulk of one document to GET", "ms", bare);
    const std::vector<double> changes = probe.changes(samples, period, change);
    report.add_distribution("commit to GET, nothing else going on", "ms", changes);
    report.add("commit to GET / a bare bulk of one document to GET, p50", "",
               quantile(changes, 0.5) / quantile(bare, 0.5));
    report.add("commit to GET / a bare bulk of one document to GET, p99", "",
               quantile(changes, 0.99) / quantile(bare, 0.99));
    report.add_distribution("commit to the answer of POST /wait, nothing else going on", "ms",
                            waits(work, *program, samples, period));
    Pgbench writers(work.database(), single_row_updates(work.last_loaded_post()), {});
    probe.changes(kWarmUp, period, change);
    report.add_distribution("commit to GET, two writers at full speed", "ms",
                            probe.changes(samples, period, change));
    report.add("the writers meanwhile", "changes/s", writers.stop());
    probe.change(change(0));  // what they wrote has been replayed
    let_merges_end();
  }
  report.add("peak memory of lockstep", "MiB", support::peak_memory(program->pid()));
  work.require_equal();
  report.control("a bare bulk of one document to GET");
  report.target("commit to GET / a bare bulk of one document to GET, p50", Report::Bound::kAtMost, 1.3);
  report.target("commit to GET / a bare bulk of one document to GET, p99", Report::Bound::kAtMost, 1.1);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"latency",
                                          "How soon after its commit a change can be read by GET.",
                                          {{"rounds", 3, 1, "how often each is measured, in turns"},
                                           {"documents", 200'000, 5'000, "rows of the view"},
                                           {"samples", 400, 40, "changes in a round"},
                                           {"per_second", 20, 50, "of these changes"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
