// Single-row updates, each a transaction of its own: replayed while two writers make them, and as a backlog
// that was made while nobody replayed it. In turns with the backlog its ceiling: as many documents, ready
// made, over those that are there, under external versions.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <iterator>
#include <random>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/bulks_in_flight.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/change_cost.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/server_cpu.h"
#include "tests/bench/support/statistics.h"

namespace lockstep::benchmarks {
namespace {

constexpr double kChangesOfTheTarget = 50'000;

// Of the ceiling, in turns. The one with the fastest median counts, in every round: the fastest of each round
// would be a choice among chances, which a backlog, drained once a round, has not.
constexpr std::size_t kMebibyte = 1 << 20;
constexpr BulkShape kReplacing[] = {{kMebibyte, 2}, {kMebibyte, 3}, {2 * kMebibyte, 2}};

constexpr const char* kWhileRendering = "ready bulks while PostgreSQL renders as many documents";

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
    search(work_.index());
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
    const std::int64_t documents = operations(work_.index()) - before;
    drained_.push_back(static_cast<double>(documents) / drained.seconds);
    for (std::size_t shape = 0; shape < std::size(kReplacing); ++shape) {
      ceilings_[shape].push_back(replace(static_cast<std::size_t>(documents), kReplacing[shape]));
      report_.add("ceiling, " + text(kReplacing[shape]), "documents/s", ceilings_[shape].back().rate);
    }
    const Replaced beside = replace(static_cast<std::size_t>(documents), kReplacing[0], Beside::kRendering);
    report_.add(kWhileRendering, "documents/s", beside.rate);
    report_.add(std::string(kWhileRendering) + ": CPU of Elasticsearch", "s", for_target(beside.cpu));
    report_.add("backlog drained / " + std::string(kWhileRendering), "", drained_.back() / beside.rate);
  }

  void finish() {
    work_.require_equal();
    add_ceiling();
    report_.control("writers, no triggers");
    report_.control("ceiling");
    report_.control(kWhileRendering);
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

  struct Replaced {
    double rate = 0;  // documents a second
    double cpu = 0;   // of Elasticsearch, seconds
  };

  enum class Beside { kNothing, kRendering };

  /// With kRendering PostgreSQL renders each document once meanwhile, for nobody: what is left of the ceiling
  /// for a consumer that costs nothing itself.
  Replaced replace(std::size_t documents, BulkShape shape, Beside beside = Beside::kNothing) {
    const std::vector<ReadyDocument> some = choose(documents);
    search(ceiling_.index());
    let_merges_end();
    cpu_.restart();
    BulksInFlight in_flight;  // as beside the backlog
    const auto begin = std::chrono::steady_clock::now();
    std::future<void> rendered;
    if (beside == Beside::kRendering) rendered = std::async(std::launch::async, [&] { work_.render(some); });
    double seconds = ceiling_.overwrite(some, shape);
    if (rendered.valid()) {
      rendered.get();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    in_flight.average();
    return {static_cast<double>(some.size()) / seconds, cpu_.elasticsearch()};
  }

  // Updates come in no order, and seldom to what has just been replaced, which Elasticsearch finds in memory.
  std::vector<ReadyDocument> choose(std::size_t documents) {
    std::shuffle(ready_.begin(), ready_.end(), random_);
    return {ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(std::min(documents, ready_.size()))};
  }

  void add_ceiling() {
    const auto median_rate = [](const std::vector<Replaced>& rounds) {
      std::vector<double> rates;
      for (const Replaced& round : rounds) rates.push_back(round.rate);
      return median(rates);
    };
    const auto& best = *std::max_element(
        std::begin(ceilings_), std::end(ceilings_),
        [&](const auto& some, const auto& other) { return median_rate(some) < median_rate(other); });
    for (std::size_t round = 0; round < best.size(); ++round) {
      report_.add("ceiling: ready bulks over documents that are there", "documents/s", best[round].rate);
      report_.add("ceiling: CPU of Elasticsearch for as many documents as the backlog", "s",
                  for_target(best[round].cpu));
      report_.add("backlog drained / ceiling", "", drained_[round] / best[round].rate);
    }
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
  std::vector<double> drained_;                            // documents a second, by round
  std::vector<Replaced> ceilings_[std::size(kReplacing)];  // by shape, then round
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
