// What `backfill`, `drain` and `latency` measure over PostgreSQL, over a SQLite file with the same documents,
// and beside the same ceilings of Elasticsearch. What a writer pays: sqlite_trigger_cost.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/support/bare_writes.h"
#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/ceiling.h"
#include "tests/support/resource_use.h"
#include "tests/support/sqlite_application.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;

constexpr double kChangesOfTheTarget = 50'000;

// As BlogWork's: titles of 6 words, bodies of 40.
std::string schema(std::int64_t posts) {
  const std::string users = std::to_string(std::max<std::int64_t>(2, posts / 100));
  const auto words = [](const std::string& seed, int count) {
    std::string text;
    for (int i = 1; i <= count; ++i)
      text += std::string(i == 1 ? "" : " || ' ' || ") + "'word' || abs((" + seed + " * 2654435761 + " +
              std::to_string(i * 40503) + ") % 5003)";
    return text;
  };
  return "pragma journal_mode = wal; pragma synchronous = normal;"
         "create table users (id integer primary key, name text not null);"
         "create table posts (id integer primary key, user_id integer not null references users, title text "
         "not "
         "null, body text not null, created_at text not null);"
         "create index posts_user on posts (user_id);"
         "create view documents as select p.id as _id, p.user_id as _user_id, p.title, p.body, p.created_at, "
         "json_object('id', u.id, 'name', u.name) as user from posts as p join users as u on u.id = "
         "p.user_id;"
         "insert into users with recursive i(n) as (select 1 union all select n + 1 from i where n < " +
         users +
         ") select n, 'user ' || n from i;"
         "insert into posts with recursive i(n) as (select 1 union all select n + 1 from i where n < " +
         std::to_string(posts) + ") select n, iif(n % 20 = 0, 1, 2 + n % (" + users + " - 1)), " +
         words("n", 6) + ", " + words("-n", 40) +
         ", strftime('%Y-%m-%dT%H:%M:%SZ', 1577836800 + n * 60, 'unixepoch') from i;"
         "analyze; pragma wal_checkpoint(truncate)";
}

class SqliteWork {
 public:
  SqliteWork(std::int64_t posts, Report& report) : posts_(posts), report_(report) {
    application_.execute(schema(posts));
  }

  std::vector<ReadyDocument> ready_documents(std::int64_t most) {
    std::vector<ReadyDocument> documents;
    application_.query(
        "select _id, json_object('title', title, 'body', body, 'created_at', created_at, 'user', json(user)) "
        "from documents limit " +
            std::to_string(most),
        [&](char** values) {
          documents.push_back({values[0], values[1]});
        });
    return documents;
  }

  void backfill(double ceiling) {
    if (std::exchange(applied_, true)) pipeline_.must("remove", {"--yes", "--indices"});
    pipeline_.apply();
    let_merges_end();
    const support::MeasuredRun filled = catch_up();
    const double rate = static_cast<double>(posts_) / filled.seconds;
    report_.add("backfill", "documents/s", rate);
    report_.add("backfill: share of the ceiling", "", rate / ceiling);
    report_.add("backfill: CPU of lockstep", "s", filled.cpu_seconds);
    report_.add("backfill: peak memory of lockstep", "MiB", filled.peak_memory);
  }

  /// `ceiling` is of writing over documents that are there.
  void drain(std::int64_t changes, double ceiling) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < changes; ++i)
      application_.execute("update posts set title = 'title " + std::to_string(i) + "' where id = " +
                           std::to_string(1 + static_cast<std::int64_t>(random_() % posts_)));
    const std::chrono::duration<double> wrote = std::chrono::steady_clock::now() - begin;
    report_.add("the writer, triggers but no lockstep", "changes/s",
                static_cast<double>(changes) / wrote.count());
    search(index_);
    let_merges_end();
    const support::MeasuredRun drained = catch_up();
    const double rate = static_cast<double>(changes) / drained.seconds;
    report_.add("backlog drained", "changes/s", rate);
    report_.add("backlog: share of the ceiling", "", rate / ceiling);
    report_.add("backlog: CPU of lockstep for 50,000 changes", "s",
                drained.cpu_seconds * kChangesOfTheTarget / static_cast<double>(changes));
    report_.add("backlog: peak memory of lockstep", "MiB", drained.peak_memory);
  }

  void latency(int samples, std::chrono::milliseconds period) {
    const std::unique_ptr<support::Program> service = pipeline_.start();
    Probe probe([this](const std::string& sql) { application_.execute(sql); }, index_);
    const auto change = [this](int i) { return change_of_title(i); };
    probe.changes(kWarmUp, period, change);
    report_.add_distribution("a bare bulk of one document to GET", "ms", bare_writes(samples, period));
    report_.add_distribution("commit to GET", "ms", probe.changes(samples, period, change));
    report_.add("commit to GET, p50, a bare bulk is 1", "",
                report_.median_of("commit to GET, p50") /
                    report_.median_of("a bare bulk of one document to GET, p50"));
    report_.add("following: peak memory of lockstep", "MiB", support::peak_memory(service->pid()));
    service->signal(SIGTERM);
    service->wait(support::kPatience);
  }

  void require_equal() const { pipeline_.must("verify", {}, kPatienceForWork); }

 private:
  support::MeasuredRun catch_up() {
    return support::measured_run(pipeline_, "run", {"--until-caught-up"}, kPatienceForWork);
  }

  Change change_of_title(int number) {
    const std::string post = std::to_string(1 + number % posts_);
    const std::string title = "probe " + std::to_string(++changes_);
    return {"update posts set title = '" + title + "' where id = " + post, post, '"' + title + '"'};
  }

  const std::int64_t posts_;
  Report& report_;
  support::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "blog.db";
  support::SqliteApplication application_{file_};
  support::PipelineUnderTest pipeline_{"sqlite:" + file_.string()};
  support::ElasticsearchIndex& index_ = pipeline_.add_index(
      "sqlite", "documents",
      "json = ['user']\n" + support::track("posts") + support::track("users", {{"column", "_user_id"}}),
      BlogWork::mapping());
  std::mt19937_64 random_{1};
  bool applied_ = false;
  int changes_ = 0;
};

void run(const Parameters& parameters, Report& report) {
  const std::int64_t documents = parameters["documents"];
  const std::int64_t changes = std::min(parameters["changes"], documents);
  SqliteWork work(documents, report);
  Ceiling ceiling(BlogWork::mapping(), work.ready_documents(documents));
  const std::vector<ReadyDocument> changed = work.ready_documents(changes);
  const BulkShape shape = ceiling.find_best(report);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    const double fill = ceiling.fill(shape);
    report.add("ceiling", "documents/s", fill);
    search(ceiling.index());
    let_merges_end();
    const double overwrite = static_cast<double>(changes) / ceiling.overwrite(changed, shape);
    report.add("ceiling of writing over them", "documents/s", overwrite);
    work.backfill(fill);
    work.drain(changes, overwrite);
    work.latency(static_cast<int>(parameters["samples"]), 1000ms / parameters["per_second"]);
  }
  work.require_equal();
  report.control("ceiling");
  report.control("ceiling of writing over them");
  report.target("backfill: share of the ceiling", Report::Bound::kAtLeast, 0.85);
  report.target("backlog: share of the ceiling", Report::Bound::kAtLeast, 0.75);
  report.control("a bare bulk of one document to GET");
  report.target("commit to GET, p50", Report::Bound::kAtMost, 10);
  report.target("backfill: peak memory of lockstep", Report::Bound::kAtMost, 32);
  report.target("following: peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"sqlite_following",
       "Backfill, drain and latency over a SQLite file, beside the ceilings.",
       {{"rounds", 3, 1, "how often each is measured, in turns"},
        {"documents", 200'000, 5'000, "rows of the view"},
        {"changes", 50'000, 2'000, "single-row updates of one writer"},
        {"samples", 400, 40, "changes in a round of latency"},
        {"per_second", 20, 50, "of these changes"}},
       lockstep::benchmarks::run},
      argc, argv);
}
