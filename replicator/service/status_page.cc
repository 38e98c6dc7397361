#include "replicator/service/status_page.h"

#include <fmt/format.h>

#include <string_view>

#include "replicator/service/health.h"
#include "replicator/service/readable.h"

namespace lockstep {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{0} · lockstep</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.4rem }}
table {{ border-collapse: collapse; width: 100%; margin: 1rem 0 }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884 }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums }}
.good {{ color: #2a7d2a }} .bad {{ color: #c33 }}
</style></head><body>
<h1>{0}</h1>
)";

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string row(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, escaped(value));
}

std::string index_row(const IndexProgress& index) {
  const auto cell = [](std::int64_t number) {
    return fmt::format("<td class=\"n\">{}</td>", grouped(number));
  };
  return fmt::format("<tr><td>{}</td>{}{}{}{}</tr>\n", escaped(index.alias), cell(index.documents),
                     cell(index.deletes), cell(index.superseded), cell(index.dead_letters));
}

std::string job_row(const IndexProgress& index, const JobStatus& job) {
  const std::string of = job.total ? " of " + grouped(*job.total) : "";
  return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}{}</td></tr>\n",
                     escaped(index.alias), name_of(job.kind), escaped(job.reason), grouped(job.done), of);
}

}  // namespace

std::string status_page(const std::string& pipeline, const ReplicationProgress& progress, SteadyTime now) {
  const Health health = judge(progress, now);
  std::string html = fmt::format(fmt::runtime(kHead), escaped(pipeline));
  html += fmt::format("<p class=\"{}\">{}</p>\n", health.ready == Verdict::kGood ? "good" : "bad",
                      escaped(health.reason));
  html += "<table>\n" + row("epoch", grouped(progress.epoch.value)) +
          row("lag", progress.pending ? readable(progress.lag) : "nothing pending") +
          row("outbox rows", grouped(progress.rows)) + row("batches", grouped(progress.batches)) +
          row("bulk requests", fmt::format("{}, {} in flight, {} repeated", grouped(progress.bulk_requests),
                                           progress.bulks_in_flight, grouped(progress.bulk_retries))) +
          "</table>\n";
  html +=
      "<table>\n<tr><th>index</th><th class=\"n\">documents written</th><th class=\"n\">deleted</th>"
      "<th class=\"n\">superseded</th><th class=\"n\">dead letters</th></tr>\n";
  std::string jobs;
  for (const auto& [id, index] : progress.indices) {
    html += index_row(index);
    for (const JobStatus& job : index.jobs) jobs += job_row(index, job);
  }
  html += "</table>\n";
  if (!jobs.empty()) {
    html += "<table>\n<tr><th>index</th><th>job</th><th>reason</th><th class=\"n\">documents</th></tr>\n" +
            jobs + "</table>\n";
  }
  return html + "<p>lockstep " LOCKSTEP_VERSION " · <a href=\"/metrics\">metrics</a></p>\n</body></html>\n";
}

}  // namespace lockstep
