// The most memory that lockstep ever has resident, in what could make it grow: an index, a transaction, a
// backlog, a document.
#include <string>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/pgbench.h"

namespace lockstep::benchmarks {
namespace {

constexpr double kTarget = 32;
constexpr double kTargetOfLargeDocuments = 64;

void measure(BlogWork& work, Report& report, const std::string& what, double target) {
  const support::MeasuredRun run = work.catch_up();
  report.add(what, "MiB", run.peak_memory);
  report.target(what, Report::Bound::kAtMost, target);
}

// Changes every document so that nothing notices it but a comparison, and has them compared.
void let_all_differ(BlogWork& work) {
  work.database().execute(R"sql(
    set session_replication_role = replica;
    update blog.posts set title = title || '.';
    reset session_replication_role;
    insert into lockstep.job (pipeline, index, kind, reason)
      select pipeline, id, 'comparison', 'to measure it' from lockstep.index;
  )sql");
}

void posts_of_any_number(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  measure(work, report, "a backfill", kTarget);
  work.database().execute("update blog.posts set title = title || '.'");
  measure(work, report, "a transaction that changes every document", kTarget);
  work.database().execute("update blog.users set name = name || '.'");
  measure(work, report, "a transaction that fans out to every document", kTarget);
  Pgbench(work.database(), single_row_updates(work.last_loaded_post()),
          {.transactions = parameters["changes"]})
      .finish();
  measure(work, report, "a backlog of single-row updates", kTarget);
  work.require_equal();
}

void posts_of_any_size(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["large_documents"]);
  const std::int64_t megabytes = parameters["megabytes"];
  work.database().execute("update blog.posts set body = repeat(md5(id::text) || ' ', " +
                          std::to_string(megabytes * 1'000'000 / 33) + ")");
  work.begin_anew();
  measure(work, report, "a backfill of large documents", kTargetOfLargeDocuments);
  work.database().execute("update blog.posts set title = title || '.'");
  measure(work, report, "a transaction that changes every large document", kTargetOfLargeDocuments);
  let_all_differ(work);
  measure(work, report, "a comparison of large documents that all differ", kTargetOfLargeDocuments);
  work.require_equal();
}

void run(const Parameters& parameters, Report& report) {
  posts_of_any_number(parameters, report);
  posts_of_any_size(parameters, report);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"memory",
                                          "The peak of lockstep's memory in work of every size.",
                                          {{"documents", 1'000'000, 5'000, "rows of the view"},
                                           {"changes", 200'000, 2'000, "single-row updates of the backlog"},
                                           {"large_documents", 100, 4, "documents of megabytes"},
                                           {"megabytes", 5, 5, "of such a document"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
