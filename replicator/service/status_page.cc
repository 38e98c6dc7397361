#include "replicator/service/status_page.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "replicator/quantity.h"
#include "replicator/service/due_json.h"
#include "replicator/service/health.h"
#include "replicator/service/job_rates.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/readable.h"
#include "replicator/source/reindexes.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;
using Tone = Headline::Tone;

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

double in_seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Points that the operator has to see to while the rest is followed.
std::vector<std::string> troubles_of(const ReplicationProgress& progress, const PipelineStatus* status) {
  std::int64_t dead_letters = 0, stopped = 0;
  for (const auto& [id, index] : progress.indices) {
    dead_letters += index.dead_letters;
    stopped += index.set_aside || !index.unreadable_jobs.empty() ? 1 : 0;
  }
  std::vector<std::string> troubles;
  if (stopped > 0)
    troubles.push_back(stopped == 1 ? "one index is not followed"
                                    : grouped(stopped) + " indices are not followed");
  if (status != nullptr && status->given_up)
    troubles.emplace_back("the outbox was full, so changes were dropped");
  // A standby does not see whether work goes forward, only that changes grow old.
  if (progress.state == PipelineState::kStandingBy && progress.pending && progress.lag > kStuckAfter)
    troubles.emplace_back("changes wait too long: look at the process that leads");
  if (dead_letters > 0) troubles.push_back(counted(dead_letters, "dead letter"));
  if (status != nullptr) {
    for (const ReindexStatus& reindex : status->reindexes) {
      if (!reindex.failure.empty()) troubles.push_back("the reindex of " + reindex.alias + " failed");
    }
  }
  if (!progress.warnings.empty())
    troubles.push_back(counted(static_cast<std::int64_t>(progress.warnings.size()), "warning"));
  return troubles;
}

// In addition to the pending changes.
struct UnderWay {
  std::int64_t jobs = 0;
  std::int64_t documents = 0;  // that are due
  bool is_any_due = false;

  void add(std::size_t more_jobs, const std::optional<DueList>& due) {
    jobs += static_cast<std::int64_t>(more_jobs);
    is_any_due = is_any_due || due;
    if (due) documents += due->documents;
  }
};

// A standby knows of it from the source alone.
UnderWay under_way(const ReplicationProgress& progress, const PipelineStatus* status) {
  UnderWay work;
  if (status != nullptr) {
    for (const IndexStatus& index : status->indices) work.add(index.jobs.size(), index.due);
  } else {
    for (const auto& [id, index] : progress.indices) work.add(index.jobs.size(), index.due);
  }
  return work;
}

// That everything is there is reported only if nothing is known to be missing.
std::string lag_sentence(const ReplicationProgress& progress, const UnderWay& work, bool is_in_trouble) {
  std::string text;
  if (work.jobs > 0)
    text += (work.jobs == 1 ? "A job is" : grouped(work.jobs) + " jobs are") + std::string(" under way. ");
  if (work.documents > 0)
    text += counted(work.documents, "document") + (work.documents == 1 ? " is" : " are") + " due. ";
  else if (work.is_any_due)
    text += "Changes are due whose documents are still to be found. ";
  if (progress.pending) return text + "The oldest pending change is " + readable(progress.lag) + " old.";
  return text + (text.empty() && !is_in_trouble ? "Everything that was committed is in Elasticsearch."
                                                : "No other change is pending.");
}

// Empty: no state in which a process waits for a server.
std::string word_of_waiting(PipelineState state) {
  if (state == PipelineState::kWaitingForElasticsearch) return "Waiting for Elasticsearch";
  if (state == PipelineState::kWaitingForSource) return "Waiting for the database";
  return {};
}

Headline unready(const ReplicationProgress& progress, const Health& health) {
  switch (progress.state) {
    case PipelineState::kStandingBy:
      return {Tone::kBad, "No leader",
              "This process stands by, and no process runs the pipeline: " + progress.unled + "."};
    case PipelineState::kWaitingForElasticsearch:
    case PipelineState::kWaitingForSource:
      return {Tone::kBad, word_of_waiting(progress.state), progress.reason};
    case PipelineState::kConnecting:
      if (progress.reason.empty())
        return {Tone::kBusy, "Connecting", "To the database and to Elasticsearch."};
      return {Tone::kBad, "Not running", progress.reason};
    case PipelineState::kBackfilling:
    case PipelineState::kFollowing:
      break;
  }
  return {Tone::kBad, "Stuck", health.reason};
}

Json history_json(const History& history, WallTime now) {
  Json lag = Json::array(), rate = Json::array();
  const auto rounded = [](const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1'000) / 1'000) : Json(nullptr);
  };
  for (const History::Point& point : history.points(now)) {
    lag.push_back(rounded(point.lag_seconds));
    rate.push_back(rounded(point.documents_per_second));
  }
  return {{"step_seconds", History::kStep.count()}, {"lag", lag}, {"rate", rate}};
}

// Which process reaches which server, by the leader's report if there is another one.
Json server_json(const ReplicationProgress& progress, const std::string& state, PipelineState trouble) {
  if (state == to_string(trouble)) return {{"answers", false}, {"reason", progress.reason}};
  const auto known = pipeline_state(state);
  const bool reached =
      known && *known != PipelineState::kConnecting && *known != PipelineState::kWaitingForSource;
  return {{"answers", reached ? Json(true) : Json(nullptr)}, {"reason", ""}};
}

Json job_json(const IndexStatus::Job& job, const std::map<JobId, double>& rates) {
  const auto rate = rates.find(job.id);
  const auto left = time_left(job.done, job.total, rate == rates.end() ? 0 : rate->second);
  return {{"kind", job.kind},
          {"reason", job.reason},
          {"done", job.done},
          {"total", job.total ? Json(*job.total) : Json(nullptr)},
          {"seconds_left", left ? Json(in_seconds(*left)) : Json(nullptr)},
          {"unreadable", !job.unreadable.empty()}};
}

Json job_json(const JobStatus& job, const std::map<JobId, double>& rates) {
  IndexStatus::Job same;
  same.id = job.id;
  same.kind = name_of(job.kind);
  same.reason = job.reason;
  same.done = job.done;
  same.total = job.total;
  return job_json(same, rates);
}

// As the writing process knows it; `document` is the leader's last report.
Json counters_json(const IndexProgress& index, const ReplicationProgress& progress, const Json& document) {
  if (progress.leads)
    return {{"documents", index.documents}, {"deletes", index.deletes}, {"superseded", index.superseded}};
  const Json indices = document.value("indices", Json::object());
  const Json told = indices.value(index.alias, Json::object());
  Json counters;
  for (const char* name : {"documents", "deletes", "superseded"})
    counters[name] = told.contains(name) ? told.at(name) : Json(nullptr);
  return counters;
}

// By alias, as the process measures them that writes.
std::map<std::string, double> due_rates_of(const ReplicationProgress& progress,
                                           const PipelineStatus* status) {
  if (!progress.leads && status != nullptr) return due_rates_of(*status);
  std::map<std::string, double> rates;
  for (const auto& [id, rate] : progress.due_rates) {
    const auto index = progress.indices.find(id);
    if (index != progress.indices.end()) rates[index->second.alias] = rate;
  }
  return rates;
}

Json indices_json(const ReplicationProgress& progress, const PipelineStatus* status) {
  Json indices = Json::array();
  const Json document =
      status != nullptr && status->leader ? Json::parse(status->leader->document) : Json::object();
  const auto rates = progress.leads || status == nullptr ? progress.job_rates : job_rates_of(*status);
  const std::map<std::string, double> due_rates = due_rates_of(progress, status);
  const auto due_of = [&](const std::string& alias, const std::optional<DueList>& due) {
    const auto rate = due_rates.find(alias);
    return due_json(due, rate == due_rates.end() ? 0 : rate->second);
  };
  if (status == nullptr) {
    for (const auto& [id, index] : progress.indices) {
      Json json = counters_json(index, progress, document);
      json.update({{"alias", index.alias},
                   {"dead_letters", index.dead_letters},
                   {"set_aside", index.set_aside || !index.unreadable_jobs.empty()},
                   {"refused", Json::array()},
                   {"due", due_of(index.alias, index.due)},
                   {"jobs", Json::array()}});
      for (const JobStatus& job : index.jobs) json["jobs"].push_back(job_json(job, rates));
      indices.push_back(std::move(json));
    }
    return indices;
  }
  for (const IndexStatus& index : status->indices) {
    const auto known = progress.indices.find(index.id);
    IndexProgress counters = known == progress.indices.end() ? IndexProgress{} : known->second;
    counters.alias = index.alias;
    Json json = counters_json(counters, progress, document);
    json.update({{"alias", index.alias},
                 {"dead_letters", index.dead_letters},
                 {"set_aside", index.set_aside.has_value()},
                 {"refused", Json::array()},
                 {"due", due_of(index.alias, index.due)},
                 {"jobs", Json::array()}});
    for (const IndexStatus::Refused& kind : index.refused)
      json["refused"].push_back({{"error", kind.error}, {"documents", kind.documents}});
    for (const IndexStatus::Job& job : index.jobs) json["jobs"].push_back(job_json(job, rates));
    indices.push_back(std::move(json));
  }
  return indices;
}

Json reindexes_json(const PipelineStatus& status) {
  Json reindexes = Json::array();
  for (const ReindexStatus& reindex : status.reindexes) {
    const bool is_kept = reindex.state == name_of(ReindexState::kKept);
    reindexes.push_back({{"alias", reindex.alias},
                         {"state", reindex.state},
                         {"live", reindex.live},
                         {"beside", reindex.beside},
                         {"keep_seconds", is_kept ? Json(in_seconds(reindex.keep)) : Json(nullptr)},
                         {"waits", !reindex.reason.empty()},
                         {"failed", !reindex.failure.empty()}});
  }
  return reindexes;
}

Json leader_json(const PipelineStatus& status) {
  if (!status.leader) return nullptr;
  return {{"host", status.leader->host},
          {"pid", status.leader->pid},
          {"since", status.leader->started_at},
          {"heard_seconds", in_seconds(status.leader->age)},
          {"runs", is_running(status)}};
}

Json standbys_json(const PipelineStatus& status) {
  if (!status.standbys) return nullptr;
  Json standbys = Json::array();
  for (const Standby& standby : *status.standbys)
    standbys.push_back({{"host", standby.host}, {"since", standby.since}});
  return standbys;
}

}  // namespace

std::string_view name_of(Headline::Tone tone) {
  constexpr std::string_view kNames[] = {"good", "busy", "warn", "bad"};
  return kNames[static_cast<std::size_t>(tone)];
}

Headline headline_of(const ReplicationProgress& progress, const PipelineStatus* status, SteadyTime now) {
  const Health health = judge(progress, now);
  if (health.alive == Verdict::kBad) return {Tone::kBad, "Hangs", health.reason + "."};
  if (health.ready == Verdict::kBad) return unready(progress, health);
  const bool stands_by = progress.state == PipelineState::kStandingBy;
  const bool backfills = progress.state == PipelineState::kBackfilling;
  std::string text = stands_by ? "Another process leads. " : "";
  if (stands_by && progress.leader_state) {
    const std::string word = word_of_waiting(*progress.leader_state);
    if (!word.empty()) return {Tone::kBad, word, text + "It waits: " + progress.leader_reason};
  }
  const UnderWay work = under_way(progress, status);
  const std::vector<std::string> troubles = troubles_of(progress, status);
  if (!troubles.empty()) {
    std::string list;
    for (const std::string& trouble : troubles) list += (list.empty() ? "" : ", ") + trouble;
    list.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(list.front())));
    return {Tone::kWarn, "Needs attention", text + list + ". " + lag_sentence(progress, work, true)};
  }
  text += lag_sentence(progress, work, false);
  if (stands_by) return {Tone::kGood, "Standing by", text};
  if (backfills) return {Tone::kBusy, "Backfilling", "A new index is being filled. " + text};
  return {Tone::kGood, "Following", text};
}

StatusPage::StatusPage(std::string pipeline, const ProgressBoard& board, const Clock& clock,
                       const History& history, WatchedStatus& watched)
    : pipeline_(std::move(pipeline)), board_(board), clock_(clock), history_(history), watched_(watched) {}

std::string StatusPage::json() const {
  const ReplicationProgress progress = board_.read();
  const WatchedStatus::Look look = watched_.look();
  const PipelineStatus* status = look.status ? &*look.status : nullptr;
  const SteadyTime now = clock_.now();
  const Headline headline = headline_of(progress, status, now);
  const bool by_leader = progress.state == PipelineState::kStandingBy && status != nullptr && status->leader;
  const std::string state = by_leader ? status->leader->state : std::string(to_string(progress.state));
  Json json = {
      {"pipeline", pipeline_},
      {"version", LOCKSTEP_VERSION},
      {"host", host_name()},
      {"pid", ::getpid()},
      {"headline",
       {{"tone", std::string(name_of(headline.tone))}, {"word", headline.word}, {"text", headline.text}}},
      {"state", std::string(to_string(progress.state))},
      {"pending", progress.pending},
      {"lag_seconds", in_seconds(progress.lag)},
      {"slo", to_json(progress.freshness)},
      {"epoch", progress.epoch.value},
      {"bulks_in_flight", progress.bulks_in_flight},
      {"bulk_retries", progress.bulk_retries},
      {"outbox_bytes", progress.outbox_bytes},
      {"warnings", progress.warnings},
      {"servers",
       {{"database", server_json(progress, state, PipelineState::kWaitingForSource)},
        {"elasticsearch", server_json(progress, state, PipelineState::kWaitingForElasticsearch)}}},
      {"history", history_json(history_, std::chrono::system_clock::now())},
      {"indices", indices_json(progress, status)},
      {"source_read_seconds", status != nullptr ? Json(in_seconds(now - look.read_at)) : Json(nullptr)},
      {"source_trouble", look.trouble},
  };
  if (status != nullptr) {
    json["epoch"] = status->epoch.value;
    json["outbox_max_bytes"] = status->max_outbox_bytes ? Json(*status->max_outbox_bytes) : Json(nullptr);
    json["leader"] = leader_json(*status);
    json["standbys"] = standbys_json(*status);
    json["reindexes"] = reindexes_json(*status);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lockstep
