// One statement over very many rows, and one transaction of very many statements: how soon the small changes
// that come after it arrive, some of them of its own rows. In turns with the same where nothing steps aside:
// with a threshold that nothing reaches.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/support/bare_writes.h"
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/ceiling.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kReadyDocuments = 150'000;  // that are in memory
constexpr std::int64_t kOwnDocuments = 1'000;      // of these, which the bulks leave alone
constexpr BulkShape kFlood{256 << 10, 1};          // as a job's, beside small changes
constexpr const char* kBareBeside = "a bare bulk of one document to GET, beside ready-made bulks";

class LargeTransactions {
 public:
  LargeTransactions(BlogWork& work, std::chrono::milliseconds period)
      : work_(work), period_(period), probe_(work.database(), work.index()) {}

  // Commits the transaction and makes small changes until nothing of it is left to do; their milliseconds.
  std::vector<double> beside(const std::string& sql, std::int64_t rows, double& seconds) {
    probe_.changes(kWarmUp, period_, [&](int) { return small_change(rows); });
    const auto connection = work_.database().connect();
    pqxx::work transaction(*connection);
    transaction.exec(sql);
    const std::string xid = transaction.exec1("select pg_current_xact_id()")[0].c_str();
    transaction.commit();
    const auto begin = Clock::now();
    std::vector<double> latencies;
    while (latencies.empty() || !is_done(xid)) {
      const std::vector<double> one = probe_.changes(1, period_, [&](int) { return small_change(rows); });
      latencies.push_back(one.front());
      const auto pause = period_ - std::chrono::duration_cast<std::chrono::milliseconds>(
                                       std::chrono::duration<double, std::milli>(one.front()));
      if (pause > 0ms) std::this_thread::sleep_for(pause);
    }
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return latencies;
  }

  // In turns: a row that nothing else touches, and one of the large transaction.
  Change small_change(std::int64_t rows) {
    const std::int64_t number = changes_++;
    if (number % 2 == 0) return work_.change_of_title(number);
    const std::string id = std::to_string(1 + number * 7919 % rows);
    const std::string title = "own row " + std::to_string(number);
    return {"update blog.posts set title = '" + title + "' where id = " + id, id, '"' + title + '"'};
  }

 private:
  bool is_done(const std::string& xid) {
    return work_.database().value(
               "select not exists (select from lockstep.due) and bool_and(pg_visible_in_snapshot('" + xid +
               "'::xid8, prev)) from lockstep.checkpoint") == "t";
  }

  BlogWork& work_;
  const std::chrono::milliseconds period_;
  Probe probe_;
  std::int64_t changes_ = 0;
};

/// As bare_writes(), while ready-made bulks, one in flight, are written over all other documents of the same
/// index again and again: what Elasticsearch takes for itself beside a large change.
std::vector<double> bare_writes_beside(std::vector<ReadyDocument> documents, std::int64_t samples,
                                       std::chrono::milliseconds period) {
  Ceiling ceiling(BlogWork::mapping(), documents);
  ceiling.fill(kFlood);
  let_merges_end();
  std::vector<std::string> own;
  for (std::int64_t i = 0; i < kOwnDocuments; ++i) {
    own.push_back(documents.back().id);
    documents.pop_back();
  }
  std::atomic<bool> is_over = false;
  std::future<void> bulks = std::async(std::launch::async, [&] {
    while (!is_over) ceiling.overwrite(documents, kFlood);
  });
  struct End {
    std::atomic<bool>& is_over;
    ~End() { is_over = true; }
  };
  std::vector<double> milliseconds = [&] {
    const End end{is_over};
    return bare_writes(ceiling.index(), own, static_cast<int>(samples), period);
  }();
  bulks.get();
  return milliseconds;
}

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  work.catch_up();
  const std::chrono::milliseconds period = 1000ms / parameters["per_second"];
  LargeTransactions large(work, period);
  const std::int64_t rows = parameters["rows"];
  const std::int64_t statements = parameters["statements"];
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    for (const bool steps_aside : {true, false}) {
      work.pipeline().set_more(steps_aside ? "" : "[replication]\nfan_out_threshold = 10000000\n");
      const auto program = work.follow();
      const std::string suffix = steps_aside ? "" : ", in the tail";
      const std::string number = std::to_string(round) + suffix;
      let_merges_end();
      double seconds = 0;
      const std::vector<double> statement = large.beside(
          "update blog.posts set title = 'round " + number + "' where id <= " + std::to_string(rows), rows,
          seconds);
      report.add_distribution("small change beside one statement" + suffix, "ms", statement);
      report.add("one statement" + suffix, "documents/s", static_cast<double>(rows) / seconds);
      let_merges_end();
      const std::vector<double> many =
          large.beside("do $$ begin for i in 1 .. " + std::to_string(statements) +
                           " loop update blog.posts set title = 'statement of round " + number +
                           "' where id = i; end loop; end $$",
                       statements, seconds);
      report.add_distribution("small change beside many statements" + suffix, "ms", many);
      report.add("many statements" + suffix, "documents/s", static_cast<double>(statements) / seconds);
      if (steps_aside) report.add("peak memory of lockstep", "MiB", support::peak_memory(program->pid()));
    }
  }
  work.catch_up();
  work.require_equal();
  report.add_distribution(
      kBareBeside, "ms",
      bare_writes_beside(work.ready_documents("_id <= " + std::to_string(std::min(rows, kReadyDocuments))),
                         parameters["bare"], period));
  report.control(kBareBeside);
  report.target("small change beside one statement, p99", Report::Bound::kAtMost, 40);
  report.target("small change beside one statement, largest", Report::Bound::kAtMost, 250);
  report.target("small change beside many statements, p99", Report::Bound::kAtMost, 40);
  report.target("small change beside many statements, largest", Report::Bound::kAtMost, 250);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"large_transaction",
                                          "How soon small changes arrive beside a statement over many rows, "
                                          "or a transaction of many statements.",
                                          {{"rounds", 3, 1, "how often each is measured, in turns"},
                                           {"documents", 200'000, 15'000, "rows of the view"},
                                           {"rows", 150'000, 12'000, "of the statement"},
                                           {"statements", 20'000, 11'000, "of the transaction of many"},
                                           {"per_second", 20, 50, "small changes"},
                                           {"bare", 600, 20, "bare bulks of one document, for comparison"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
