#include "replicator/service/leader_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "replicator/error.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/readable.h"
#include "replicator/unknown_value.h"

namespace lockstep {

bool is_running(const PipelineStatus& status) {
  return status.leader && status.leader->age <= kSilentAfter && status.leader->state != kStoppedState;
}

bool is_starting(const PipelineStatus& status) {
  return !status.leader && std::any_of(status.lead.begin(), status.lead.end(),
                                       [](const LeadHolder& holder) { return holder.is_lockstep; });
}

std::string reason_of(const PipelineStatus& status) {
  if (!is_running(status) && !status.obstacle.empty()) return status.obstacle;
  if (is_starting(status)) return "a process has become leader, and has not reported yet";
  if (!status.leader) return "it has never run";
  const std::string& reason = status.leader->reason;
  if (status.leader->state == kStoppedState) return reason.empty() ? "it was stopped" : reason;
  if (is_running(status)) return reason;
  return status.leader->host + ", process " + std::to_string(status.leader->pid) + ", has not reported for " +
         readable(status.leader->age);
}

std::optional<FreshnessReport> freshness_of(const PipelineStatus& status) {
  if (!status.leader) return std::nullopt;
  const WallTime now = std::chrono::system_clock::now();
  try {
    const auto notes = Freshness::published(status.leader->document, status.leader->age, now);
    return notes ? notes->report(is_running(status) ? now - status.leader->age : now) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::map<JobId, double> job_rates_of(const PipelineStatus& status) {
  std::map<JobId, double> rates;
  if (!is_running(status)) return rates;
  const auto report = nlohmann::json::parse(status.leader->document);
  const auto jobs = report.value("jobs", nlohmann::json::object());
  for (const auto& [id, job] : jobs.items())
    rates[JobId{std::stoll(id)}] = job.at("documents_per_second").get<double>();
  return rates;
}

std::map<std::string, double> due_rates_of(const PipelineStatus& status) {
  std::map<std::string, double> rates;
  if (!is_running(status)) return rates;
  const auto report = nlohmann::json::parse(status.leader->document);
  const auto indices = report.value("indices", nlohmann::json::object());
  for (const auto& [alias, index] : indices.items()) rates[alias] = index.value("due_per_second", 0.0);
  return rates;
}

std::vector<std::string> warnings_of(const PipelineStatus& status) {
  std::vector<std::string> warnings;
  if (!status.leader) return warnings;
  const std::string& state = status.leader->state;
  if (state != kStoppedState && !pipeline_state(state)) {
    warnings.emplace_back(unknown_value("lockstep's table pipeline_status", "state", state).what());
  }
  try {
    Freshness::published(status.leader->document, {}, std::chrono::system_clock::now());
  } catch (const Error& error) {
    warnings.emplace_back(error.what());
  }
  if (!is_running(status)) return warnings;
  const auto report = nlohmann::json::parse(status.leader->document);
  for (const auto& warning : report.value("warnings", nlohmann::json::array()))
    warnings.push_back(warning.get<std::string>());
  return warnings;
}

}  // namespace lockstep
