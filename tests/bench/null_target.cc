// Lockstep's own limit, and PostgreSQL's: the target takes every bulk request at once and answers that all is
// well.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/bench/support/pgbench.h"
#include "tests/bench/support/server_cpu.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::benchmarks {
namespace {

// Success for every operation of a bulk request of index operations: an action line and a document each.
std::string success(std::string_view body) {
  static constexpr std::string_view kId = "\"_id\":\"";
  std::string reply = R"({"errors":false,"items":[)";
  while (!body.empty()) {
    const std::size_t id = body.find(kId) + kId.size();
    if (reply.back() == '}') reply += ',';
    reply.append(R"({"index":{"_id":")")
        .append(body.substr(id, body.find('"', id) - id))
        .append(R"(","status":200}})");
    const std::size_t end_of_action = body.find('\n');
    body.remove_prefix(body.find('\n', end_of_action + 1) + 1);
  }
  return reply + "]}";
}

// Bulk requests end here; what else lockstep asks goes on to Elasticsearch.
std::optional<support::Disturbance> take_bulks(const support::HttpMessage& request) {
  if (!support::RecordingProxy::is_bulk(request)) return std::nullopt;
  return support::Disturbance{.status = 200, .body = success(request.body)};
}

/// What a run of `lockstep run --until-caught-up` took.
struct Cost {
  double seconds;
  double lockstep;    // CPU seconds, as the next
  double postgresql;  // of all its processes
};

Cost operator-(const Cost& all, const Cost& part) {
  return {all.seconds - part.seconds, all.lockstep - part.lockstep, all.postgresql - part.postgresql};
}

Cost catch_up(BlogWork& work, ServerCpu& cpu) {
  cpu.restart();
  const support::MeasuredRun run = work.catch_up();
  return {run.seconds, run.cpu_seconds, cpu.postgresql()};
}

void report_backfill(Report& report, const Cost& cost, double documents) {
  report.add("backfill", "documents/s", documents / cost.seconds);
  report.add("backfill: CPU of lockstep for 100,000 documents", "s", cost.lockstep * 1e5 / documents);
  report.add("backfill: CPU of PostgreSQL for 100,000 documents", "s", cost.postgresql * 1e5 / documents);
}

void report_backlog(Report& report, const std::string& name, const Cost& cost, double changes) {
  report.add(name + " drained", "changes/s", changes / cost.seconds);
  report.add(name + ": CPU of lockstep for 50,000 changes", "s", cost.lockstep * 5e4 / changes);
  report.add(name + ": CPU of PostgreSQL for 50,000 changes", "s", cost.postgresql * 5e4 / changes);
}

void run(const Parameters& parameters, Report& report) {
  support::RecordingProxy target;
  target.disturb(take_bulks);
  BlogWork work(parameters["documents"], target.url());
  ServerCpu cpu(work.database());
  const std::int64_t changes = parameters["changes"];
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    work.begin_anew();
    report_backfill(report, catch_up(work, cpu), static_cast<double>(work.posts()));
    const Cost nothing = catch_up(work, cpu);
    report.add("a run with nothing to do", "s", nothing.seconds);
    double alone = 0;
    for (const int connections : {1, 2}) {
      work.pipeline().set_more_of_source("render_connections = " + std::to_string(connections) + "\n");
      Pgbench(work.database(), single_row_updates(work.last_loaded_post()), {.transactions = changes})
          .finish();
      const Cost drained = catch_up(work, cpu) - nothing;
      const std::string name = "backlog, rendered on " + std::to_string(connections) +
                               (connections == 1 ? " connection" : " connections");
      report_backlog(report, name, drained, static_cast<double>(changes));
      if (connections == 1) alone = drained.seconds;
      if (connections == 2) report.add("speed of two connections / one", "", alone / drained.seconds);
    }
  }
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"null_target",
                                          "Replicates into a target that takes everything at once.",
                                          {{"rounds", 5, 1, "how often each is measured, in turns"},
                                           {"documents", 1'000'000, 5'000, "rows of the view"},
                                           {"changes", 200'000, 2'000, "single-row updates of the backlog"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
