// The text for clients that wait for a pipeline: why it has no leader, with the remedy (no process runs, or
// one runs and still waits before it can lead, for Elasticsearch for example), or what its leader waits for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "replicator/pipeline/waiter.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// REQUIRES: there is no leader.
std::string no_leader_reason(const std::optional<PipelineStatus>& status);

/// The same from the source's present status. An unreadable status is part of the text.
std::string no_leader_reason(const std::function<std::unique_ptr<StatusReader>()>& open_reader);

/// The wait of a leader that runs; empty: none, or no such leader is known.
std::string leader_waits(const std::optional<PipelineStatus>& status);

/// Both, from the source's status at each call.
Waiter::Words words_of_waits(std::function<std::unique_ptr<StatusReader>()> open_reader);

}  // namespace lockstep
