// What a configuration means for a database: which expressions of which tables' rows are captured, and how
// their values become ids of documents. Computed from the configuration and the catalog alone; nothing is
// changed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/define/capture.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

struct TrackDesign {
  std::size_t capture = 0;  ///< place in PipelineDesign::captures
  std::string
      resolver_query;  ///< SQL from $1, an array of the value type, to texts; empty: the values are the ids
  std::string line;    ///< "<file>:<line>"
  bool through_view = false;  ///< the view itself is asked, so a document that has left it is not found
  std::string table;
};

struct IndexDesign {
  std::string alias;
  std::string view;
  unsigned view_oid = 0;
  std::string id_type;
  bool routed = false;
  std::vector<std::string> fields;
  std::string definition;  ///< checksum of everything that documents depend on, but the rows
  std::vector<TrackDesign> tracks;
  ViewReads reads;
  std::string line;
};

/// A tracked table: what its triggers do.
struct TableDesign {
  PostgresRelation relation;
  std::vector<TableMember> members;   ///< partitions and inheriting tables, which get the triggers too
  std::vector<std::size_t> captures;  ///< places in PipelineDesign::captures
  bool every_update = false;          ///< an update always counts
  bool every_column = false;          ///< an update counts if any column changed
  std::set<std::string> columns;      ///< otherwise: if one of these changed (names)
};

struct PipelineDesign {
  std::optional<std::int64_t> max_outbox_size;  ///< bytes; none: no limit
  std::vector<IndexDesign> indices;
  std::vector<CaptureDesign> captures;
  std::map<std::string, TableDesign> tables;  ///< by quoted name
  std::vector<Finding> findings;              ///< faults and warnings, in the order of the configuration
  std::vector<Finding> denied;                ///< what could not be looked into for lack of rights
};

/// The name of the function that `apply` makes of a track's query; empty: it needs none. Named by what it is,
/// so that another query is another function: a replicator that still knows the old one meets an error, never
/// another meaning.
std::string resolver_name(const PipelineDesign& design, const TrackDesign& track);

/// REQUIRES: a PostgreSQL source. Faults of the configuration are findings; what they concern is left out.
PipelineDesign design_pipeline(pqxx::work& transaction, const Config& config);

}  // namespace lockstep
