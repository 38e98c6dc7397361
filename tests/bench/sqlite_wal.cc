// How large -wal becomes while an index is filled from a SQLite file beside a writer: it is written from its
// beginning again only when nobody reads, and a backfill reads nearly always.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/resource_use.h"
#include "tests/support/sqlite_application.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr double kMegabyte = 1 << 20;
constexpr double kLargestWal = 16;

/// A writer of single rows, and the size of -wal meanwhile.
class BusyWriter {
 public:
  BusyWriter(std::filesystem::path file, std::int64_t rows)
      : file_(std::move(file)), writer_([this, rows] { write(rows); }), watcher_([this] { watch(); }) {}
  ~BusyWriter() { stop(); }
  BusyWriter(const BusyWriter&) = delete;
  BusyWriter& operator=(const BusyWriter&) = delete;

  void stop() {
    stopping_ = true;
    if (writer_.joinable()) writer_.join();
    if (watcher_.joinable()) watcher_.join();
  }

  double commits() const { return static_cast<double>(commits_.load()); }
  double largest_wal() const { return static_cast<double>(largest_.load()) / kMegabyte; }

 private:
  void write(std::int64_t rows) {
    support::SqliteApplication application(file_);
    application.execute("pragma synchronous = normal");
    std::mt19937_64 random(1);
    for (; !stopping_; ++commits_) {
      application.execute("update posts set n = n + 1 where id = " +
                          std::to_string(1 + random() % static_cast<std::uint64_t>(rows)));
      std::this_thread::sleep_for(500us);
    }
  }
  void watch() {
    for (; !stopping_; std::this_thread::sleep_for(10ms)) {
      std::error_code absent;
      const std::uintmax_t size = std::filesystem::file_size(file_.string() + "-wal", absent);
      if (!absent) largest_ = std::max(largest_.load(), size);
    }
  }

  const std::filesystem::path file_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::int64_t> commits_ = 0;
  std::atomic<std::uintmax_t> largest_ = 0;
  std::thread writer_;
  std::thread watcher_;
};

void run(const Parameters& parameters, Report& report) {
  const support::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "app.db";
  const std::int64_t documents = parameters["documents"];
  support::SqliteApplication(file).execute(
      "pragma journal_mode = wal; create table posts (id integer primary key, title text not null, n integer "
      "not null); "
      "create view documents as select id as _id, title, n from posts; "
      "insert into posts with recursive i(n) as (select 1 union all select n + 1 from i where n < " +
      std::to_string(documents) +
      ") select n, 'a title with some words ' || n, 0 from i; pragma wal_checkpoint(truncate)");
  support::PipelineUnderTest pipeline("sqlite:" + file.string());
  const support::ElasticsearchIndex& index = pipeline.add_index("wal", "documents", support::track("posts"));
  pipeline.apply();
  BusyWriter writer(file, documents);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<support::Program> service = pipeline.start();
  pipeline.must("wait", {"--timeout", "3600s"}, kPatienceForWork);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  writer.stop();
  pipeline.must("wait", {"--timeout", "600s", "--refresh"}, kPatienceForWork);
  if (index.count() != documents) throw std::runtime_error("the index is not full");
  report.add("filled beside the writer", "documents/s", static_cast<double>(documents) / took.count());
  report.add("the writer's commits", "commits", writer.commits());
  report.add("what it wrote into -wal, about", "MiB", writer.commits() * 2 * 4120 / kMegabyte);
  report.add("largest -wal", "MiB", writer.largest_wal());
  report.add("peak memory of lockstep", "MiB", support::peak_memory(service->pid()));
  report.target("largest -wal", Report::Bound::kAtMost, kLargestWal);
  if (writer.largest_wal() > kLargestWal) throw std::runtime_error("-wal has grown beside a backfill");
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"sqlite_wal",
                                          "How large -wal becomes while an index is filled beside a writer.",
                                          {{"documents", 1'000'000, 100'000, "rows of the view"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
