// What a change costs when the outbox has grown old, when a transaction has been open for long, and when a
// thousand tables are tracked; and how long a writer is held up when an old outbox is pruned.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <thread>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/change_cost.h"
#include "tests/bench/support/many_tables.h"
#include "tests/support/eventually.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Where the outbox keeps rows: writers use the current leaf, and the one before it is pruned as soon as it is
// consumed.
constexpr const char* kCurrentLeaf = "(select s.last_value from lockstep.outbox_slot as s)";
constexpr const char* kPreviousLeaf = "(select (s.last_value + 2) % 3 from lockstep.outbox_slot as s)";

// Rows that have been consumed, as many as there would be if nothing had been pruned. REQUIRES: some have
// been.
void age_outbox(support::PostgresDatabase& database, std::int64_t rows, const std::string& leaf) {
  const std::string times = std::to_string(std::max<std::int64_t>(1, rows / 1000));
  database.execute(
      "insert into lockstep.outbox (txid, capture, keys, slot) select o.txid, o.capture, o.keys, " + leaf +
      " from (select * from lockstep.outbox order by txid, id limit 1000) o, generate_series(1, " + times +
      ")");
  database.execute("analyze lockstep.outbox");
}

void consume_some(BlogWork& work) {
  for (int i = 0; i < 1000; ++i) {
    work.database().execute("update blog.posts set title = title || '.' where id = " +
                            std::to_string(1 + i % 100));
  }
  work.catch_up();
}

void old_outbox(const Parameters& parameters, const ChangeCostSizes& sizes, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  consume_some(work);
  auto program = work.follow();
  report_change_cost(work, *program, sizes, "young outbox", report);
  const std::int64_t rows = parameters["outbox_rows"];
  age_outbox(work.database(), rows, kCurrentLeaf);
  report_change_cost(work, *program, sizes, std::to_string(rows) + " consumed rows in the outbox", report);

  const auto connection = work.database().connect();
  pqxx::work open(*connection);
  open.exec("select pg_current_xact_id()");
  std::this_thread::sleep_for(std::chrono::seconds(parameters["open_seconds"]));
  report_change_cost(work, *program, sizes,
                     "and a transaction open for " + std::to_string(parameters["open_seconds"]) + " s",
                     report);
  open.abort();
  program->signal(SIGTERM);
  program->wait(support::kPatience);
  work.require_equal();
}

// The longest of the single-row updates that a writer makes, one every millisecond, while `other` goes on.
template <class Work>
double longest_update(support::PostgresDatabase& database, const Work& other) {
  std::atomic<bool> ended = false;
  auto writer = std::async(std::launch::async, [&] {
    const auto connection = database.connect();
    double longest = 0;
    for (int i = 0; !ended; ++i) {
      const auto begin = Clock::now();
      support::execute(*connection, "update blog.posts set title = 'update " + std::to_string(i) +
                                        "' where id = " + std::to_string(1 + i % 100));
      longest = std::max(longest, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
      std::this_thread::sleep_until(begin + 1ms);
    }
    return longest;
  });
  other();
  ended = true;
  return writer.get();
}

void pruning(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  consume_some(work);
  const std::string leaf =
      "lockstep.outbox_" + std::to_string(work.database().number("select " + std::string(kPreviousLeaf)));
  age_outbox(work.database(), parameters["outbox_rows"], kPreviousLeaf);
  const auto program = work.follow();
  auto took = Clock::duration::zero();
  const double pruned = longest_update(work.database(), [&] {
    const auto begin = Clock::now();
    const auto connection = work.database().connect();
    const auto empty = [&] {
      return support::execute(*connection, "select not exists (select from " + leaf + ")")[0][0].as<bool>();
    };
    if (!support::wait_until(empty, 10min, 100ms)) throw std::runtime_error("the outbox was not pruned");
    took = Clock::now() - begin;
  });
  report.add("longest update of a writer, until the outbox is pruned", "ms", pruned);
  report.add("longest update of a writer, in as much time without pruning", "ms",
             longest_update(work.database(), [&] { std::this_thread::sleep_for(took); }));
}

void many_tables(const Parameters& parameters, const ChangeCostSizes& sizes, Report& report) {
  const std::int64_t tables = parameters["tables"];
  const std::int64_t indices = parameters["indices"];
  BlogWork work(parameters["documents"]);
  add_many_tables(work.pipeline(), tables, indices);
  const auto begin = Clock::now();
  work.pipeline().must("apply", {"--yes"}, kPatienceForWork);
  report.add("apply, " + std::to_string(tables) + " tables and " + std::to_string(indices) + " indices", "s",
             std::chrono::duration<double>(Clock::now() - begin).count());
  work.catch_up();
  const auto program = work.follow();
  report_change_cost(work, *program, sizes,
                     std::to_string(tables) + " tables and " + std::to_string(indices) + " indices more",
                     report);
  report.add("peak memory with them", "MiB", support::peak_memory(program->pid()));
}

void run(const Parameters& parameters, Report& report) {
  const ChangeCostSizes sizes{.samples = static_cast<int>(parameters["samples"]),
                              .batch = parameters["batch"]};
  old_outbox(parameters, sizes, report);
  pruning(parameters, report);
  many_tables(parameters, sizes, report);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"age",
       "What a change costs beside an old outbox, an open transaction and many tables.",
       {{"documents", 100'000, 2'000, "rows of the view"},
        {"outbox_rows", 10'000'000, 20'000, "consumed rows that nobody has pruned"},
        {"open_seconds", 300, 2, "that a transaction has been open"},
        {"tables", 1'000, 20, "tracked tables more"},
        {"indices", 50, 2, "indices more, each of as many of these tables"},
        {"samples", 200, 40, "single changes each time"},
        {"batch", 1'000, 200, "rows of a transaction"}},
       lockstep::benchmarks::run},
      argc, argv);
}
