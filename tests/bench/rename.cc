// A directory with hundreds of thousands of files below it is renamed while other connections rename, move,
// change and remove some of these files: how soon the small changes arrive, and what they cost the large one.
// In turns with the same rename undisturbed.
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/probe.h"
#include "tests/support/eventually.h"
#include "tests/support/shipped_files.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kFilesOfADirectory = 1'000;
constexpr int kWarmUp = 20;

class Tree {
 public:
  explicit Tree(std::int64_t files)
      : pipeline_(database_),
        index_(pipeline_.add_index("fs", "fs.documents", support::shipped_tracks("config/fs.toml"),
                                   support::shipped_file("config/fs.json"))),
        directories_(std::max<std::int64_t>(2, files / kFilesOfADirectory)) {
    database_.run(LOCKSTEP_SOURCE_DIR "/schema/fs/postgresql/install.sql");
    const std::string per_directory = std::to_string(files / directories_);
    database_.execute("select fs.mkdir('/tree')");
    database_.execute(
        "insert into fs.nodes (parent_id, name, kind) select fs.find('/tree'), 'directory ' || i, "
        "'directory' from generate_series(1, " +
        std::to_string(directories_) + ") i");
    database_.execute(
        "insert into fs.nodes (parent_id, name, kind, contents) select d.id, 'file ' || i, 'file', "
        "'contents of file ' || i from fs.nodes d, generate_series(1, " +
        per_directory + ") i where d.name like 'directory %'");
    database_.execute("vacuum analyze fs.nodes");
    for (const pqxx::row& row :
         database_.query("select id from fs.nodes where kind = 'directory' and name like "
                         "'directory %' order by id"))
      directory_ids_.emplace_back(row[0].c_str());
    // Half of the files, in no order, is for probes; the others change them with no hurry.
    for (const pqxx::row& row : database_.query("select id from fs.nodes where kind = 'file' and id % 2 = 0 "
                                                "order by hashint8(id)"))
      probed_.emplace_back(row[0].c_str());
    database_.execute(
        "create table public.disturbed as select row_number() over () as number, id from fs.nodes "
        "where kind = 'file' and id % 2 = 1; create unique index on public.disturbed (number); "
        "analyze public.disturbed");
  }

  support::PostgresDatabase& database() { return database_; }
  support::PipelineUnderTest& pipeline() { return pipeline_; }
  support::ElasticsearchIndex& index() { return index_; }

  // Renames it; returns the seconds from commit until nothing of that is left to do.
  double rename() {
    const std::string to = "/tree " + std::to_string(++renames_);
    database_.execute("select fs.rename('" + name_ + "', '" + to + "')");
    const auto begin = Clock::now();
    name_ = to;
    pipeline_.must("wait", {"--timeout", "1h"}, kPatienceForWork);
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // In turns: a new name, another directory, other contents, removed. Each on another file.
  Change small_change() {
    const std::int64_t number = changes_++;
    const std::string& id = probed_.at(static_cast<std::size_t>(number) % probed_.size());
    const std::string mark = "probe " + std::to_string(number);
    const std::string where = " where id = " + id;
    switch (number % 4) {
      case 0:
        return {"update fs.nodes set name = '" + mark + "'" + where, id, mark + '"'};
      case 1:
        return {"update fs.nodes set name = '" + mark + "', parent_id = " +
                    directory_ids_[static_cast<std::size_t>(number) % directory_ids_.size()] + where,
                id, mark + '"'};
      case 2:
        return {"update fs.nodes set contents = '" + mark + "'" + where, id, mark + '"'};
      default:
        return {"delete from fs.nodes" + where, id, std::nullopt};
    }
  }

  // A pgbench script that changes what no probe looks at.
  std::string disturbance() {
    return "\\set number random(1, " + *database_.value("select count(*)::text from public.disturbed") +
           ")\nupdate fs.nodes set contents = 'changed at ' || clock_timestamp() where id = (select id from "
           "public.disturbed where number = :number);\n";
  }

 private:
  support::PostgresDatabase database_;
  support::PipelineUnderTest pipeline_;
  support::ElasticsearchIndex& index_;
  const std::int64_t directories_;
  std::vector<std::string> directory_ids_;
  std::vector<std::string> probed_;
  std::int64_t changes_ = 0;
  std::string name_ = "/tree";
  int renames_ = 0;
};

struct Disturbed {
  double seconds = 0;
  std::vector<double> latencies;  // ms
};

Disturbed rename_disturbed(Tree& tree, std::chrono::milliseconds period, int others) {
  Pgbench writers(tree.database(), tree.disturbance(), {.clients = 1, .per_second = others});
  std::atomic<bool> renamed = false;
  std::atomic<bool> warm = false;
  auto probes = std::async(std::launch::async, [&] {
    Probe probe(tree.database(), tree.index());
    const auto change = [&](int) { return tree.small_change(); };
    probe.changes(kWarmUp, period, change);
    warm = true;
    std::vector<double> latencies;
    while (!renamed) {
      const std::vector<double> one = probe.changes(1, 0ms, change);
      latencies.insert(latencies.end(), one.begin(), one.end());
      const auto pause = period - std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::duration<double, std::milli>(one.front()));
      if (pause > 0ms) std::this_thread::sleep_for(pause);
    }
    return latencies;
  });
  support::wait_until([&] { return warm.load() || probes.wait_for(0s) == std::future_status::ready; }, 2min);
  Disturbed result;
  result.seconds = tree.rename();
  renamed = true;
  result.latencies = probes.get();
  writers.stop();
  return result;
}

void run(const Parameters& parameters, Report& report) {
  const std::int64_t files = parameters["files"];
  Tree tree(files);
  tree.pipeline().apply();
  tree.pipeline().must("run", {"--until-caught-up"}, kPatienceForWork);
  const auto program = tree.pipeline().start();
  const std::chrono::milliseconds period = 1000ms / parameters["per_second"];
  Probe probe(tree.database(), tree.index());
  probe.change(tree.small_change());
  std::vector<double> during;
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    let_merges_end();
    report.add_distribution("small change, nothing else going on", "ms",
                            probe.changes(static_cast<int>(parameters["samples"]), period,
                                          [&](int) { return tree.small_change(); }));
    const double alone = tree.rename();
    report.add("rename of the directory, undisturbed", "documents/s", static_cast<double>(files) / alone);
    let_merges_end();
    const Disturbed disturbed = rename_disturbed(tree, period, static_cast<int>(parameters["others"]));
    report.add("rename of the directory, disturbed", "documents/s",
               static_cast<double>(files) / disturbed.seconds);
    report.add("speed of the rename, disturbed / undisturbed", "", alone / disturbed.seconds);
    during.insert(during.end(), disturbed.latencies.begin(), disturbed.latencies.end());
  }
  report.add_distribution("small change during the rename", "ms", during);
  report.add("small changes that were measured during a rename", "changes",
             static_cast<double>(during.size()));
  report.add("peak memory of lockstep", "MiB", support::peak_memory(program->pid()));
  tree.pipeline().must("verify", {}, kPatienceForWork);
  report.target("speed of the rename, disturbed / undisturbed", Report::Bound::kAtLeast, 0.7);
  report.target("small change during the rename, p99", Report::Bound::kAtMost, 40);
  report.target("peak memory of lockstep", Report::Bound::kAtMost, 32);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"rename",
       "Renames a directory with very many files while some of them are changed.",
       {{"rounds", 3, 1, "how often each is measured, in turns"},
        {"files", 300'000, 12'000, "below the directory"},
        {"samples", 200, 20, "small changes before each rename"},
        {"per_second", 20, 50, "of these small changes, and of those during a rename"},
        {"others", 100, 100, "changes of other files a second during a rename"}},
       lockstep::benchmarks::run},
      argc, argv);
}
