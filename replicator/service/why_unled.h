// Why nobody leads a pipeline, with what to do, for those who wait for it: no process runs, or one runs and
// waits for something before it can lead, for Elasticsearch for example.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// REQUIRES: nobody leads.
std::string why_unled(const std::optional<PipelineStatus>& status);

/// The same of what the source says now. A status that cannot be read is part of the text.
std::string why_unled(const std::function<std::unique_ptr<StatusReader>()>& open_reader);

}  // namespace lockstep
