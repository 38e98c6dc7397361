// SQLite's implementations of the contracts of a source, each with a connection of its own. For
// source/open_source, whose function for the same contract documents what is loaded and thrown.
//
// REQUIRES: the source is SQLite.
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

/// The library as it is loaded: "SQLite 3.40.1".
std::unique_ptr<ViewReader> make_sqlite_view_reader(const Config& config);
std::string sqlite_libraries();

std::unique_ptr<Source> make_sqlite_source(const Config& config, const std::string& purpose);
std::unique_ptr<AppliedWatch> make_sqlite_applied_watch(const Config& config);
std::unique_ptr<StatusReader> make_sqlite_status_reader(const Config& config);
std::unique_ptr<StatusWriter> make_sqlite_status_writer(const Config& config);
std::unique_ptr<SourceDefinition> make_sqlite_definition(const Config& config);
std::unique_ptr<SchemaReader> make_sqlite_schema_reader(const SourceConfig& source);

}  // namespace lockstep
