#include "replicator/cli/text/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replicator/pipeline/progress.h"
#include "replicator/quantity.h"
#include "replicator/service/due_json.h"
#include "replicator/service/job_rates.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/readable.h"
#include "replicator/source/outbox/sweep_wait.h"
#include "replicator/source/reindexes.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// From this size on the status warns of an outbox without a limit.
constexpr std::int64_t kLargeOutbox = std::int64_t{1} << 30;

double seconds(std::chrono::milliseconds duration) {
  return static_cast<double>(duration.count()) / 1'000;
}

// An empty object if the pipeline has never run.
Json counters_of(const PipelineStatus& status) {
  return status.leader ? Json::parse(status.leader->document) : Json::object();
}

template <class Value>
Value value_at(const Json& document, const std::string& pointer, Value otherwise) {
  return document.value(Json::json_pointer(pointer), otherwise);
}

// Elasticsearch allows no "/" in aliases; "~" has a meaning in JSON pointers.
std::string pointer_of(const std::string& alias, const char* counter) {
  std::string escaped;
  for (const char c : alias) escaped += c == '~' ? "~0" : std::string(1, c);
  return "/indices/" + escaped + "/" + counter;
}

struct Rates {
  std::map<JobId, double> jobs;
  std::map<std::string, double> due;  // by alias

  explicit Rates(const PipelineStatus& status) : jobs(job_rates_of(status)), due(due_rates_of(status)) {}

  double of(const IndexStatus::Job& job) const {
    const auto rate = jobs.find(job.id);
    return rate == jobs.end() ? 0 : rate->second;
  }
  double of_due(const IndexStatus& index) const {
    const auto rate = due.find(index.alias);
    return rate == due.end() ? 0 : rate->second;
  }
};

Json index_json(const IndexStatus& index, const Json& counters, const Rates& rates) {
  Json json = {{"view", index.view}};
  for (const char* counter : {"documents", "deletes", "superseded", "refused"}) {
    json[counter] = value_at<std::int64_t>(counters, pointer_of(index.alias, counter), 0);
  }
  json["dead_letters"] = index.dead_letters;
  json["set_aside"] = index.set_aside.value_or("");
  json["due"] = due_json(index.due, rates.of_due(index));
  json["jobs"] = Json::array();
  for (const IndexStatus::Job& job : index.jobs) {
    const auto left = time_left(job.done, job.total, rates.of(job));
    json["jobs"].push_back({{"id", job.id.value},
                            {"kind", job.kind},
                            {"unreadable", job.unreadable},
                            {"reason", job.reason},
                            {"done", job.done},
                            {"total", job.total ? Json(*job.total) : Json(nullptr)},
                            {"seconds_left", left ? Json(seconds(*left)) : Json(nullptr)}});
  }
  return json;
}

Json leader_json(const LeaderReport& leader) {
  return {{"host", leader.host},
          {"pid", leader.pid},
          {"started_at", leader.started_at},
          {"heard_seconds", seconds(leader.age)}};
}

Json holder_json(const LeadHolder& holder) {
  return {{"pid", holder.pid},
          {"user", holder.user},
          {"application", holder.application},
          {"since", holder.since.empty() ? Json(nullptr) : Json(holder.since)},
          {"is_lockstep", holder.is_lockstep}};
}

Json reindex_json(const ReindexStatus& reindex) {
  return {{"alias", reindex.alias},
          {"state", reindex.state},
          {"live", reindex.live},
          {"beside", reindex.beside},
          {"wanted", reindex.wanted},
          {"reason", reindex.reason},
          {"failure", reindex.failure},
          {"keep_seconds", seconds(reindex.keep)},
          {"max_rate", reindex.max_rate ? Json(*reindex.max_rate) : Json(nullptr)}};
}

// "2026-01-31T12:00:00.408953+00:00" as the other times: "2026-01-31T12:00:00Z".
std::string to_the_second(std::string time) {
  constexpr std::string_view kUtc = "+00:00";
  if (time.ends_with(kUtc)) time.replace(time.size() - kUtc.size(), kUtc.size(), "Z");
  if (const std::size_t point = time.find('.'); point != std::string::npos)
    time.erase(point, time.find_first_not_of("0123456789", point + 1) - point);
  return time;
}

std::string lead_text(const LeadHolder& holder) {
  if (holder.user.empty()) {
    return fmt::format("process {}{}", holder.pid,
                       holder.since.empty() ? "" : ", since " + to_the_second(holder.since));
  }
  return fmt::format("session {} of {} ({}){}", holder.pid, holder.user, holder.application,
                     holder.since.empty() ? "" : ", connected " + to_the_second(holder.since));
}

// Neither a job's reason nor a due list's shows what keeps it waiting now.
std::string waits_text(const std::string& state) {
  return state == to_string(PipelineState::kWaitingForElasticsearch) ? ", and waits for Elasticsearch" : "";
}

std::string waits_text(const IndexStatus::Job& job, const std::string& state) {
  const std::string waits = waits_text(state);
  if (!waits.empty() || job.kind != name_of(JobKind::kSweep)) return waits;
  return "; " + std::string(kSweepWaits);
}

std::string job_line(const IndexStatus::Job& job, double documents_per_second, const std::string& state) {
  std::string line = "    " + job.kind + " (" + job.reason + "): ";
  if (!job.unreadable.empty()) return line + "it cannot be done: " + job.unreadable + "\n";
  const std::string end = waits_text(job, state) + "\n";
  if (!job.total) return line + counted(job.done, "document") + end;
  line += grouped(job.done) + " of about " + counted(*job.total, "document");
  if (*job.total > 0) line += fmt::format(", {} %", std::min<std::int64_t>(100, job.done * 100 / *job.total));
  if (const auto left = time_left(job.done, job.total, documents_per_second))
    return line + ", about " + readable(*left) + " left\n";
  return line + end;
}

std::string due_line(const DueList& due, double documents_per_second, const std::string& state) {
  std::string line = "    due: ";
  if (due.documents > 0) line += counted(due.documents, "document");
  if (due.changes > 0)
    line += std::string(due.documents > 0 ? ", and " : "") + "changes whose documents are still to be found";
  if (!due.reason.empty()) line += " (" + due.reason + ")";
  line += ", the oldest for " + readable(due.oldest_age);
  if (documents_per_second <= 0) return line + waits_text(state) + "\n";
  std::string speed = rate_text(documents_per_second);
  line += ", " + speed.replace(speed.rfind("/s"), 0, " documents");
  if (const auto left = time_left(due, documents_per_second)) line += ", about " + readable(*left) + " left";
  return line + "\n";
}

std::string outbox_text(const PipelineStatus& status) {
  std::string text = readable_size(status.outbox_bytes);
  if (status.max_outbox_bytes) text += " of " + readable_size(*status.max_outbox_bytes);
  if (status.given_up)
    return text + ": it was full, so changes were not captured; `lockstep run` compares every index";
  if (!status.max_outbox_bytes && status.outbox_bytes >= kLargeOutbox) {
    text += ", and nothing limits it: see replication.max_outbox_size";
  }
  return text;
}

}  // namespace

std::string freshness_text(const FreshnessReport& report) {
  const double percent = std::floor(std::max(0.0, report.share()) * 10'000) / 100;
  const bool is_a_day = report.known + Freshness::kStep >= Freshness::kSteps * Freshness::kStep;
  return fmt::format("within {} for {} % of the last {}", duration_text(report.objective), percent,
                     is_a_day ? "day" : readable(report.known) + "; more is not known");
}

// ", 1 of 2 indices paused"; empty: none is.
std::string paused_text(const std::optional<PipelineStatus>& status) {
  if (!status) return "";
  const auto paused = std::count_if(status->indices.begin(), status->indices.end(),
                                    [](const IndexStatus& index) { return index.set_aside.has_value(); });
  if (paused == 0) return "";
  return fmt::format(", {} of {} paused", paused,
                     counted(static_cast<std::int64_t>(status->indices.size()), "index", "indices"));
}

std::string lag_text(const PipelineStatus& status) {
  if (status.pending_rows == 0) return "nothing pending";
  const bool more = status.pending_rows >= kMaxPendingRows;
  return readable(status.pending_age) + ", " +
         (more ? grouped(status.pending_rows) + " rows or more" : counted(status.pending_rows, "row"));
}

std::string reindex_text(const ReindexStatus& reindex) {
  std::string text = "of " + reindex.alias + ": " + reindex.state;
  if (!reindex.beside.empty()) text += ", " + reindex.beside + " alongside " + reindex.live;
  if (reindex.state == name_of(ReindexState::kKept)) text += " for " + readable_left(reindex.keep);
  const bool is_limited = reindex.state == name_of(ReindexState::kCreating) ||
                          reindex.state == name_of(ReindexState::kFilling) ||
                          reindex.state == name_of(ReindexState::kComparing);
  if (is_limited && reindex.max_rate) text += ", at most " + grouped(*reindex.max_rate) + " documents/s";
  if (!reindex.wanted.empty()) text += "; wanted: " + reindex.wanted;
  if (!reindex.reason.empty()) text += "; it waits: " + reindex.reason;
  if (!reindex.failure.empty()) text += "; it failed: " + reindex.failure;
  if (reindex.state == name_of(ReindexState::kFailed) && reindex.wanted.empty())
    text += "; `lockstep reindex --abort " + reindex.alias + "` ends it";
  return text;
}

namespace {

std::string indices_text(const PipelineStatus& status, const Json& counters) {
  std::size_t width = std::string_view("index").size();
  for (const IndexStatus& index : status.indices) width = std::max(width, index.alias.size());
  const std::string state = state_of(status);
  const Rates rates(status);
  std::string text = fmt::format("\n  {:<{}}  {:>14}  {:>14}  {:>12}  {:>12}\n", "index", width, "written",
                                 "deleted", "superseded", "dead letters");
  for (const IndexStatus& index : status.indices) {
    const auto counter = [&](const char* name) {
      return grouped(value_at<std::int64_t>(counters, pointer_of(index.alias, name), 0));
    };
    text +=
        fmt::format("  {:<{}}  {:>14}  {:>14}  {:>12}  {:>12}\n", index.alias, width, counter("documents"),
                    counter("deletes"), counter("superseded"), grouped(index.dead_letters));
    if (index.set_aside) text += "    paused: " + *index.set_aside + "\n";
    if (index.due) text += due_line(*index.due, rates.of_due(index), state);
    for (const IndexStatus::Job& job : index.jobs) text += job_line(job, rates.of(job), state);
  }
  return text;
}

}  // namespace

std::string spaced(std::string state) {
  std::replace(state.begin(), state.end(), '_', ' ');
  return state;
}

std::string state_of(const std::optional<PipelineStatus>& status) {
  if (!status) return "not_applied";
  if (is_starting(*status)) return "starting";
  return is_running(*status) ? status->leader->state : "not_running";
}

std::string status_json(const std::string& pipeline, const std::optional<PipelineStatus>& status) {
  const PipelineStatus known = status.value_or(PipelineStatus{});
  const Json counters = counters_of(known);
  const bool running = is_running(known);
  Json json = {
      {"pipeline", pipeline},
      {"state", state_of(status)},
      {"reason", status ? reason_of(known) : "run `lockstep apply`"},
      {"epoch", known.epoch.value},
      {"leader", known.leader ? leader_json(*known.leader) : Json(nullptr)},
      {"lead", Json::array()},
      {"lag", {{"seconds", seconds(known.pending_age)}, {"rows", known.pending_rows}}},
      {"slo", to_json(freshness_of(known))},
      {"outbox",
       {{"bytes", known.outbox_bytes},
        {"max_bytes", known.max_outbox_bytes ? Json(*known.max_outbox_bytes) : Json(nullptr)},
        {"given_up", known.given_up}}},
      {"checkpoint_age_seconds", seconds(known.checkpoint_age)},
      {"documents_per_second", running ? value_at<double>(counters, "/documents_per_second", 0) : 0.0},
      {"bulk",
       {{"in_flight", running ? value_at<std::int64_t>(counters, "/bulk/in_flight", 0) : 0},
        {"retries", value_at<std::int64_t>(counters, "/bulk/retries", 0)}}},
      {"warnings", warnings_of(known)},
      {"reindexes", Json::array()},
      {"indices", Json::object()},
  };
  for (const LeadHolder& holder : known.lead) json["lead"].push_back(holder_json(holder));
  for (const ReindexStatus& reindex : known.reindexes) json["reindexes"].push_back(reindex_json(reindex));
  const Rates rates(known);
  for (const IndexStatus& index : known.indices)
    json["indices"][index.alias] = index_json(index, counters, rates);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string status_text(const std::string& pipeline, const std::optional<PipelineStatus>& status) {
  std::string text = "pipeline " + pipeline + ": " + spaced(state_of(status)) + paused_text(status) + "\n";
  if (!status) return text + "  run `lockstep apply` first\n";
  const Json counters = counters_of(*status);
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<12}{}\n", name, value);
  };
  if (const std::string reason = reason_of(*status); !reason.empty()) {
    const bool is_old = !is_running(*status) && status->leader && reason == status->leader->reason;
    line(is_old ? "last report" : "reason", reason);
  }
  line("lag", lag_text(*status));
  if (const auto report = freshness_of(*status)) line("freshness", freshness_text(*report));
  line("outbox", outbox_text(*status));
  if (is_running(*status)) line("rate", rate_text(value_at<double>(counters, "/documents_per_second", 0)));
  line("checkpoint", readable(status->checkpoint_age) + " ago");
  if (status->leader) {
    line(is_running(*status) ? "leader" : "last leader",
         fmt::format("{}, process {}, since {}, epoch {}", status->leader->host, status->leader->pid,
                     to_the_second(status->leader->started_at), status->epoch.value));
  }
  const std::vector<std::string> warnings = warnings_of(*status);
  for (const LeadHolder& holder : status->lead) {
    if (holder.is_lockstep) {
      line("lock", "held by " + lead_text(holder));
    } else if (std::find(warnings.begin(), warnings.end(), in_words(holder)) == warnings.end()) {
      line("warning", in_words(holder));
    }
  }
  for (const std::string& warning : warnings) line("warning", warning);
  for (const ReindexStatus& reindex : status->reindexes) line("reindex", reindex_text(reindex));
  return text + indices_text(*status, counters);
}

}  // namespace lockstep
