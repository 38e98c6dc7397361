// What those are told who wait for a pipeline: why nobody leads it, with what to do (no process runs, or one
// runs and waits for something before it can lead, for Elasticsearch for example), or what its leader waits
// for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "replicator/pipeline/waiter.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// REQUIRES: nobody leads.
std::string no_leader_reason(const std::optional<PipelineStatus>& status);

/// The same of what the source says now. A status that cannot be read is part of the text.
std::string no_leader_reason(const std::function<std::unique_ptr<StatusReader>()>& open_reader);

/// What a leader that runs waits for; empty: nothing, or no such leader is known.
std::string leader_waits(const std::optional<PipelineStatus>& status);

/// Both, of what the source says whenever they are asked.
Waiter::Words words_of_waits(std::function<std::unique_ptr<StatusReader>()> open_reader);

}  // namespace lockstep
