// One changed row that changes many documents: a user with a twentieth of all posts is renamed, beside a bulk
// of the same documents, ready made, over those that are there, in turns.
#include <chrono>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/change_cost.h"
#include "tests/bench/support/server_cpu.h"

namespace lockstep::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_to_rename(BlogWork& work, std::int64_t documents, std::int64_t round) {
  const std::int64_t before = operations(work.index());
  work.database().execute("update blog.users set name = 'renamed " + std::to_string(round) +
                          "' where id = 1");
  const auto begin = Clock::now();
  wait_for_operations(work.index(), before + documents);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void run(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  const std::vector<ReadyDocument> posts_of_one = work.ready_documents("_user_id = 1");
  Ceiling ceiling(BlogWork::mapping(), work.ready_documents());
  const BulkShape shape = ceiling.find_best(report);
  ceiling.fill(shape);
  work.begin_anew();
  work.catch_up();
  const auto program = work.follow();
  ServerCpu cpu(work.database());
  for (std::int64_t round = -1; round < parameters["rounds"]; ++round) {
    search(ceiling.index());
    let_merges_end();
    cpu.restart();
    const double ready_made = ceiling.overwrite(posts_of_one, shape);
    const double cpu_of_ready_made = cpu.elasticsearch();
    search(work.index());
    let_merges_end();
    const double own_before = support::cpu_seconds(program->pid());
    cpu.restart();
    const double renamed = seconds_to_rename(work, static_cast<std::int64_t>(posts_of_one.size()), round);
    if (round < 0) continue;  // to warm up
    report.add("ready-made bulk", "s", ready_made);
    report.add("ready-made bulk: CPU of Elasticsearch", "s", cpu_of_ready_made);
    report.add("rename, commit to the last document", "s", renamed);
    report.add("rename: CPU of Elasticsearch", "s", cpu.elasticsearch());
    report.add("rename: CPU of PostgreSQL", "s", cpu.postgresql());
    report.add("rename: CPU of lockstep", "s", support::cpu_seconds(program->pid()) - own_before);
    report.add("rename / ready-made bulk", "", renamed / ready_made);
  }
  work.require_equal();
  report.control("ready-made bulk");
  report.target("rename / ready-made bulk", Report::Bound::kAtMost, 1.2);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"fan_out",
       "Renames a user whose name is in a twentieth of all documents.",
       {{"rounds", 15, 2, "how often each is measured, in turns"},
        {"documents", 200'000, 5'000, "rows of the view; a twentieth of them belongs to the user"}},
       lockstep::benchmarks::run},
      argc, argv);
}
