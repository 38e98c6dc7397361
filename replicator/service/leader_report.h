// The leader's last report on a pipeline: whether a process runs it, why not, and points that need attention.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replicator/pipeline/freshness.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// PublishedStatus::state of a leader that has ended in an orderly way.
inline constexpr const char* kStoppedState = "stopped";

/// A leader that has published nothing for so long is not running.
inline constexpr std::chrono::seconds kSilentAfter{10};

/// Whether a leader reports its work.
bool is_running(const PipelineStatus& status);

/// Whether the first leader that the pipeline has ever had leads, and has reported nothing yet.
bool is_starting(const PipelineStatus& status);

/// Why no process runs the pipeline ("it has never run"), or its leader's reason, which may be empty.
std::string reason_of(const PipelineStatus& status);

/// How well the leader's `[slo] lag` was met: until its report if it runs, until now if it does not. None: it
/// has no such objective, nothing is known yet, or its notes cannot be read, which warnings_of() reports.
std::optional<FreshnessReport> freshness_of(const PipelineStatus& status);

/// Documents a second of each job that advances, as a leader that runs has measured it in its leadership.
/// Throws nlohmann::json::exception if the report cannot be read.
std::map<JobId, double> job_rates_of(const PipelineStatus& status);

/// Likewise of each index's due work, by its alias.
std::map<std::string, double> due_rates_of(const PipelineStatus& status);

/// Points that the operator has to see to, such as documents that may be out of date: the findings of a
/// leader that runs, and a state or notes of the objective that this Lockstep does not know. Throws
/// nlohmann::json::exception if the report cannot be read.
std::vector<std::string> warnings_of(const PipelineStatus& status);

}  // namespace lockstep
