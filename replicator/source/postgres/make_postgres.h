// PostgreSQL's implementations of the contracts of a source, each with a connection of its own. For
// source/open_source, whose function for the same contract documents what is loaded and thrown.
//
// REQUIRES: the source is PostgreSQL.
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

std::unique_ptr<Source> make_postgres_source(const Config& config, const std::string& purpose);
std::unique_ptr<AppliedWatch> make_postgres_applied_watch(const Config& config);
std::unique_ptr<StatusReader> make_postgres_status_reader(const Config& config);
std::unique_ptr<StatusWriter> make_postgres_status_writer(const Config& config);
std::unique_ptr<SourceDefinition> make_postgres_definition(const Config& config);
std::unique_ptr<SchemaReader> make_postgres_schema_reader(const SourceConfig& source);
std::unique_ptr<ViewReader> make_postgres_view_reader(const Config& config);
std::string postgres_libraries();

}  // namespace lockstep
