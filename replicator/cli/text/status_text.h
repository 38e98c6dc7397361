// The status of a pipeline for people and for programs. docs/monitoring.md lists the keys of the JSON, which
// do not change.
#pragma once

#include <optional>
#include <string>

#include "replicator/pipeline/freshness.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// "not_applied", "not_running", "starting", or the state that the leader has published.
std::string state_of(const std::optional<PipelineStatus>& status);

/// A state in words: "not running".
std::string spaced(std::string state);

/// "of posts: filling, posts-000002 beside posts-000001".
std::string reindex_text(const ReindexStatus& reindex);

/// "within 2s for 99.97 % of the last day", "within 2s for 100 % of the last 3 h 12 min; more is not known".
/// Rounded down: 100 % means that nothing was missed.
std::string freshness_text(const FreshnessReport& report);

/// "12 ms, 3 rows", "nothing pending".
std::string lag_text(const PipelineStatus& status);

/// One JSON object on one line, without line feed.
std::string status_json(const std::string& pipeline, const std::optional<PipelineStatus>& status);

/// Some lines of text.
std::string status_text(const std::string& pipeline, const std::optional<PipelineStatus>& status);

}  // namespace lockstep
