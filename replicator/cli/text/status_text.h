// The status of a pipeline for people and for programs. The keys of the JSON are listed in docs/monitoring.md
// and stay what they are.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// A leader that said nothing for so long is not running.
inline constexpr std::chrono::seconds kSilentAfter{10};

/// "not_applied", "not_running", or what the leader says.
std::string state_of(const std::optional<PipelineStatus>& status);

/// One JSON object in one line.
std::string status_json(const std::string& pipeline, const std::optional<PipelineStatus>& status);

/// Some lines of text.
std::string status_text(const std::string& pipeline, const std::optional<PipelineStatus>& status);

}  // namespace lockstep
