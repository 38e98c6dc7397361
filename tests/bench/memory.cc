// The most memory that lockstep ever has resident, in what could make it grow: an index, a transaction, a
// backlog, a document.
#include <string>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/pgbench.h"

namespace lockstep::benchmarks {
namespace {

constexpr double kTarget = 32;

void measure(BlogWork& work, Report& report, const std::string& what, bool has_target) {
  const support::MeasuredRun run = work.catch_up();
  report.add(what, "MiB", run.peak_memory);
  if (has_target) report.target(what, Report::Bound::kAtMost, kTarget);
}

void posts_of_any_number(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["documents"]);
  work.begin_anew();
  measure(work, report, "a backfill", true);
  work.database().execute("update blog.posts set title = title || '.'");
  measure(work, report, "a transaction that changes every document", true);
  work.database().execute("update blog.users set name = name || '.'");
  measure(work, report, "a transaction that fans out to every document", true);
  Pgbench(work.database(), single_row_updates(work.last_loaded_post()),
          {.transactions = parameters["changes"]})
      .finish();
  measure(work, report, "a backlog of single-row updates", true);
  work.require_equal();
}

void posts_of_any_size(const Parameters& parameters, Report& report) {
  BlogWork work(parameters["large_documents"]);
  const std::int64_t megabytes = parameters["megabytes"];
  work.database().execute("update blog.posts set body = repeat(md5(id::text) || ' ', " +
                          std::to_string(megabytes * 1'000'000 / 33) + ")");
  work.begin_anew();
  measure(work, report, "a backfill of large documents", false);
  work.database().execute("update blog.posts set title = title || '.'");
  measure(work, report, "a transaction that changes every large document", false);
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
