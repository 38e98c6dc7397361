// How often an application that waits for no lock meets one of lockstep: transactions of one writer without
// busy_timeout, while lockstep follows and prunes. Alone this writer meets nobody.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "tests/bench/support/benchmark.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/sqlite_application.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRows = 10'000;

// How an application comes to write.
constexpr const char* kImmediate = "begin immediate; update posts set n = n + 1 where id = {id}; commit";
constexpr const char* kSingle = "update posts set n = n + 1 where id = {id}";
constexpr const char* kReadsFirst =
    "begin; select n from posts where id = {id}; update posts set n = n + 1 where id = {id}; commit";

std::string with_id(std::string sql, std::int64_t id) {
  for (auto at = sql.find("{id}"); at != std::string::npos; at = sql.find("{id}"))
    sql.replace(at, 4, std::to_string(id));
  return sql;
}

struct Met {
  std::int64_t commits = 0;
  std::int64_t busy = 0;
};

Met write_for(const std::filesystem::path& file, const std::string& sql, std::chrono::seconds duration,
              std::chrono::microseconds pause) {
  support::SqliteApplication writer(file);
  writer.execute("pragma synchronous = normal");
  writer.set_patience(0ms);
  std::mt19937_64 random(1);
  std::exponential_distribution<double> between(1 / std::max<double>(1, static_cast<double>(pause.count())));
  Met met;
  for (const auto end = Clock::now() + duration; Clock::now() < end;) {
    const int code = writer.attempt(with_id(sql, 1 + static_cast<std::int64_t>(random() % kRows)));
    if (code == SQLITE_BUSY) {
      ++met.busy;
    } else if (code == SQLITE_OK) {
      ++met.commits;
    } else {
      throw std::runtime_error(std::string("the writer failed: ") + sqlite3_errstr(code));
    }
    if (pause > 0us)
      std::this_thread::sleep_for(std::chrono::microseconds(static_cast<std::int64_t>(between(random))));
  }
  return met;
}

/// Keeps the processor busy, as other programs do.
class Load {
 public:
  explicit Load(std::int64_t threads) {
    for (std::int64_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stopping_.load(std::memory_order_relaxed)) continue;
      });
    }
  }
  ~Load() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

void run(const Parameters& parameters, Report& report) {
  const support::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "app.db";
  support::SqliteApplication(file).execute(
      "pragma journal_mode = wal; create table posts (id integer primary key, n integer not null); "
      "create view documents as select id as _id, n from posts; "
      "insert into posts with recursive i(n) as (select 1 union all select n + 1 from i where n < " +
      std::to_string(kRows) + ") select n, 0 from i");
  support::PipelineUnderTest pipeline("sqlite:" + file.string());
  pipeline.add_index("busy", "documents", support::track("posts"));
  pipeline.apply();
  pipeline.catch_up();
  const Load load(parameters["load"]);
  const std::unique_ptr<support::Program> service = pipeline.start();
  const std::chrono::seconds duration(parameters["seconds"]);
  const std::chrono::microseconds pause(parameters["pause"]);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    for (const auto& [name, sql] :
         {std::pair{"begin immediate", kImmediate}, std::pair{"one statement", kSingle},
          std::pair{"reads, then writes", kReadsFirst}}) {
      const Met met = write_for(file, sql, duration, pause);
      report.add(std::string(name) + ": commits", "commits", static_cast<double>(met.commits));
      report.add(std::string(name) + ": SQLITE_BUSY", "times", static_cast<double>(met.busy));
    }
  }
  if (!service->running()) throw std::runtime_error("the service has ended: " + service->err());
  pipeline.must("wait", {"--timeout", "120s"}, 3min);
  report.target("begin immediate: SQLITE_BUSY", Report::Bound::kAtMost, 0);
  report.target("one statement: SQLITE_BUSY", Report::Bound::kAtMost, 0);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"sqlite_busy",
       "What an application without busy_timeout meets beside lockstep, over one SQLite file.",
       {{"rounds", 3, 1, "how often each is measured, in turns"},
        {"seconds", 40, 2, "that each way to write is measured for"},
        {"pause", 800, 800, "between two transactions in the mean, in microseconds; 0: none"},
        {"load", 0, 0, "threads that keep the processors busy meanwhile"}},
       lockstep::benchmarks::run},
      argc, argv);
}
