// `lockstep reindex` beside writers: from the command until the alias has moved, beside what Elasticsearch
// takes of the same documents at all, and how soon small changes arrive meanwhile. Then what it costs to
// follow two generations: the same backlog into both, and into one.
#include <chrono>
#include <csignal>
#include <future>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Reindexes {
 public:
  Reindexes(const Parameters& parameters, Report& report)
      : work_(parameters["documents"]),
        writes_per_second_(static_cast<int>(parameters["writes_per_second"])),
        changes_(parameters["changes"]),
        period_(1000ms / parameters["per_second"]),
        report_(report),
        cpu_(work_.database()),
        ceiling_(BlogWork::mapping(), work_.ready_documents()),
        shape_(ceiling_.find_best(report)) {
    work_.begin_anew();
    work_.catch_up();
  }

  void beside_writers() {
    const double ready_made = ceiling_.fill(shape_);
    report_.add("ceiling", "documents/s", ready_made);
    let_merges_end();
    follow();
    Pgbench writers(work_.database(), single_row_updates(work_.last_loaded_post()),
                    {.per_second = writes_per_second_});
    Probe probe(work_.database(), work_.index());
    const double cpu_before = support::cpu_seconds(service_->pid());
    cpu_.restart();
    const auto begin = Clock::now();
    auto command = std::async(std::launch::async, [&] { reindex({work_.index().alias()}); });
    std::vector<double> latencies;
    while (latencies.empty() || command.wait_for(0ms) != std::future_status::ready) {
      const auto next = Clock::now() + period_;
      latencies.push_back(probe.change(work_.change_of_title(probes_++)));
      command.wait_until(next);
    }
    command.get();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    report_.add("writers meanwhile", "changes/s", writers.stop());
    const double rate = static_cast<double>(work_.posts()) / seconds;
    report_.add("reindex, filled, compared and swapped", "documents/s", rate);
    report_.control("ceiling");
    report_.add("reindex: share of the ceiling", "", rate / ready_made);
    report_.add("reindex: CPU of lockstep", "s", support::cpu_seconds(service_->pid()) - cpu_before);
    report_.add("reindex: CPU of PostgreSQL, writers and all", "s", cpu_.postgresql());
    report_.add("reindex: CPU of Elasticsearch", "s", cpu_.elasticsearch());
    report_.add("reindex: peak memory of lockstep", "MiB", support::peak_memory(service_->pid()));
    report_.add_distribution("small change beside a reindex", "ms", latencies);
    stop();
  }

  /// REQUIRES: beside_writers() has left two generations. One is left.
  void backlogs() {
    const double two = drained("two generations");
    follow();
    const auto begin = Clock::now();
    reindex({"--back", work_.index().alias()});
    report_.add("the way back", "s", std::chrono::duration<double>(Clock::now() - begin).count());
    reindex({"--finish", "--yes", work_.index().alias()});
    stop();
    report_.add("backlog into two generations / into one", "", two / drained("one generation"));
  }

  void finish() {
    work_.require_equal();
    report_.target("backlog into two generations / into one", Report::Bound::kAtLeast, 1 / 1.6);
    report_.target("reindex: peak memory of lockstep", Report::Bound::kAtMost, 64);
    report_.target("small change beside a reindex, p99", Report::Bound::kAtMost, 100);
  }

 private:
  double drained(const std::string& into) {
    Pgbench(work_.database(), single_row_updates(work_.last_loaded_post()), {.transactions = changes_})
        .finish();
    let_merges_end();
    const double rate = static_cast<double>(changes_) / work_.catch_up().seconds;
    report_.add("backlog drained into " + into, "changes/s", rate);
    return rate;
  }

  void reindex(const std::vector<std::string>& arguments) {
    work_.pipeline().must("reindex", arguments, kPatienceForWork);
  }

  void follow() { service_ = work_.follow(); }
  void stop() {
    service_->signal(SIGTERM);
    service_->wait(support::kPatience);
  }

  BlogWork work_;
  const int writes_per_second_;
  const std::int64_t changes_;
  const std::chrono::milliseconds period_;
  Report& report_;
  ServerCpu cpu_;
  Ceiling ceiling_;
  const BulkShape shape_;
  std::unique_ptr<support::Program> service_;
  std::int64_t probes_ = 0;
};

void run(const Parameters& parameters, Report& report) {
  Reindexes reindexes(parameters, report);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    reindexes.beside_writers();
    reindexes.backlogs();
  }
  reindexes.finish();
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"reindex",
       "A new index filled, compared and swapped beside writers; and a backlog into two generations.",
       {{"rounds", 3, 1, "how often each is measured, in turns"},
        {"documents", 200'000, 5'000, "rows of the view"},
        {"writes_per_second", 500, 100, "updates of two writers while the new index is filled"},
        {"changes", 50'000, 2'000, "updates of the backlog"},
        {"per_second", 20, 50, "small changes whose arrival is timed"}},
       lockstep::benchmarks::run},
      argc, argv);
}
