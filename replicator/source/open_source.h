// Connects to the pipeline's source, a function for each way to use it. Behind the configuration nothing else
// asks which database it is.
//
// Each throws UsageError if this build knows no source of that kind, Error if it cannot be reached.
#pragma once

#include <memory>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/source.h"
#include "replicator/source/source_definition.h"
#include "replicator/source/table_graph.h"
#include "replicator/source/view_reader.h"

namespace lockstep {

/// Throws UsageError if this build knows no source of that kind. Connects to nothing.
void require_known_kind(const SourceConfig& source);

/// Loads the pipeline, too. `purpose` names the connection in the database's list of sessions ("tail").
/// Throws UsageError also if the pipeline was never applied.
std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose);

/// Throws UsageError also if the pipeline was never applied.
std::unique_ptr<AppliedWatch> open_applied_watch(const Config& config);

std::unique_ptr<StatusReader> open_status_reader(const Config& config);

/// Throws UsageError also if the pipeline was never applied.
std::unique_ptr<StatusWriter> open_status_writer(const Config& config);

/// Reads the schema from which `init` drafts a pipeline.
std::unique_ptr<SchemaReader> open_schema_reader(const SourceConfig& source);

/// Reads the views, applied or not. Throws UsageError also if the configuration does not fit the source, or
/// if reading would lend this session's rights to another user.
std::unique_ptr<ViewReader> open_view_reader(const Config& config);

/// The libraries behind all of them, as they are loaded: "libpq 15.13, libpqxx 6.4.5, SQLite 3.40.1".
std::string source_libraries();

/// REQUIRES: `config` outlives the result.
std::unique_ptr<SourceDefinition> open_source_definition(const Config& config);

}  // namespace lockstep
