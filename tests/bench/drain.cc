// Single-row updates, each a transaction of its own: replayed while two writers make them, and as a backlog
// that was made while nobody replayed it. In turns with the backlog its ceiling: as many documents, ready
// made, over those that are there, under external versions.
#include <algorithm>
#include <csignal>
#include <random>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/bulks_in_flight.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/change_cost.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

constexpr double kChangesOfTheTarget = 50'000;

// Of the ceiling; the faster one counts.
constexpr std::size_t kMebibyte = 1 << 20;
constexpr BulkShape kReplacing[] = {{kMebibyte, 2}, {kMebibyte, 3}, {2 * kMebibyte, 2}};

class Drain {
 public:
  Drain(std::int64_t documents, std::int64_t changes, Report& report)
      : work_(documents),
        changes_(changes),
        report_(report),
        cpu_(work_.database()),
        ready_(work_.ready_documents()),
        ceiling_(BlogWork::mapping(), ready_) {}

  void writers_alone() { report_.add("writers, no triggers", "changes/s", write()); }

  void set_up() {
    work_.begin_anew();
    work_.catch_up();
    ceiling_.fill(kReplacing[0]);
  }

  void with_writers() {
    const std::unique_ptr<support::Program> program = work_.follow();
    let_merges_end();
    Probe probe(work_.database(), work_.index());
    const double before = support::cpu_seconds(program->pid());
    cpu_.restart();
    report_.add("writers, lockstep following", "changes/s", write());
    report_.add("the last change arrives after the writers' end", "ms",
                probe.change(work_.change_of_title(0)));
    report_.add("following: CPU of lockstep for 50,000 changes", "s",
                for_target(support::cpu_seconds(program->pid()) - before));
    report_.add("following: CPU of PostgreSQL for 50,000 changes, writers and all", "s",
                for_target(cpu_.postgresql()));
    report_.add("following: CPU of Elasticsearch for 50,000 changes", "s", for_target(cpu_.elasticsearch()));
    program->signal(SIGTERM);
    program->wait(support::kPatience);
  }

  void as_backlog() {
    report_.add("writers, triggers but no lockstep", "changes/s", write());
    let_merges_end();
    const std::int64_t before = operations(work_.index());
    cpu_.restart();
    BulksInFlight in_flight;
    const support::MeasuredRun drained = work_.catch_up();
    report_.add("backlog: CPU of lockstep for 50,000 changes", "s", for_target(drained.cpu_seconds));
    report_.add("backlog: CPU of PostgreSQL for 50,000 changes", "s", for_target(cpu_.postgresql()));
    report_.add("backlog: CPU of Elasticsearch for 50,000 changes", "s", for_target(cpu_.elasticsearch()));
    report_.add("backlog: peak memory of lockstep", "MiB", drained.peak_memory);
    report_.add("backlog: bulks in flight, average", "bulks", in_flight.average());
    report_.add("backlog drained", "changes/s", static_cast<double>(changes_) / drained.seconds);
    const auto documents = static_cast<double>(operations(work_.index()) - before);
    report_.add("backlog drained / ceiling", "",
                documents / drained.seconds / replace(static_cast<std::size_t>(documents)));
  }

  void finish() {
    work_.require_equal();
    report_.control("writers, no triggers");
    report_.control("ceiling: ready bulks over documents that are there");
    report_.target("backlog drained / ceiling", Report::Bound::kAtLeast, 0.9);
    report_.target("following: CPU of lockstep for 50,000 changes", Report::Bound::kAtMost, 1);
    report_.target("backlog: CPU of lockstep for 50,000 changes", Report::Bound::kAtMost, 0.2);
    report_.target("backlog: peak memory of lockstep", Report::Bound::kAtMost, 32);
  }

 private:
  double write() {
    return Pgbench(work_.database(), single_row_updates(work_.last_loaded_post()), {.transactions = changes_})
        .finish();
  }

  /// Documents a second, at best.
  double replace(std::size_t documents) {
    double best = 0;
    double cpu = 0;
    for (const BulkShape shape : kReplacing) {
      // Updates come in no order, and seldom to what has just been replaced, which Elasticsearch finds in
      // memory.
      std::shuffle(ready_.begin(), ready_.end(), random_);
      const std::vector<ReadyDocument> some(
          ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(std::min(documents, ready_.size())));
      let_merges_end();
      cpu_.restart();
      BulksInFlight in_flight;  // as beside the backlog
      const double rate = static_cast<double>(some.size()) / ceiling_.overwrite(some, shape);
      in_flight.average();
      if (rate < best) continue;
      best = rate;
      cpu = cpu_.elasticsearch();
    }
    report_.add("ceiling: ready bulks over documents that are there", "documents/s", best);
    report_.add("ceiling: CPU of Elasticsearch for as many documents as the backlog", "s", for_target(cpu));
    return best;
  }

  double for_target(double seconds) const {
    return seconds * kChangesOfTheTarget / static_cast<double>(changes_);
  }

  BlogWork work_;
  const std::int64_t changes_;
  Report& report_;
  ServerCpu cpu_;
  std::vector<ReadyDocument> ready_;
  std::mt19937 random_{1};
  Ceiling ceiling_;
};

void run(const Parameters& parameters, Report& report) {
  Drain drain(parameters["documents"], parameters["changes"], report);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) drain.writers_alone();
  drain.set_up();
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    drain.with_writers();
    drain.as_backlog();
  }
  drain.finish();
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"drain",
       "Replays single-row updates, beside their writers and as a backlog.",
       {{"rounds", 5, 1, "how often each is measured, in turns"},
        {"documents", 200'000, 5'000, "rows of the view"},
        {"changes", 50'000, 2'000, "updates of two writers"}},
       lockstep::benchmarks::run},
      argc, argv);
}
