// What the leader's last report says of a pipeline: whether anybody runs it, why not, and what needs
// attention.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// PublishedStatus::state of a leader that has ended in an orderly way.
inline constexpr const char* kStoppedState = "stopped";

/// A leader that has published nothing for so long is not running.
inline constexpr std::chrono::seconds kSilentAfter{10};

/// Whether a leader reports what it does.
bool is_running(const PipelineStatus& status);

/// Why nobody runs the pipeline ("it has never run"), or the reason that its leader gives, which may be
/// empty.
std::string reason_of(const PipelineStatus& status);

/// What somebody has to see to, such as documents that may be out of date: what a leader that runs has found,
/// and a state that this lockstep does not know. Throws nlohmann::json::exception when the report cannot be
/// read.
std::vector<std::string> warnings_of(const PipelineStatus& status);

}  // namespace lockstep
