// A configuration's design for a database: the captured expressions of each table's rows, and how their
// values lead to ids of documents. Made from the configuration and the catalog alone; changes nothing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/define/index_plan.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/view_links.h"
#include "replicator/source/postgres/catalog/view_parts.h"
#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/define/capture.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/postgres/session/value_settings.h"

namespace lockstep {

struct TrackDesign {
  std::size_t capture = 0;  ///< position in PipelineDesign::captures
  /// SQL from $1, an array of the value type, to texts. Empty: the values are the ids.
  std::string resolver_query;
  std::string keys;           ///< the query of the configuration that it is made of; empty: there is none
  std::string line;           ///< "<file>:<line>"
  bool through_view = false;  ///< the query asks the view, so it misses a document that has left it
  std::string table;
  bool of_part = false;  ///< only some of the table's rows, those of one part, lead to documents
};

struct IndexDesign : DescribedIndex {
  std::string alias;
  unsigned view_oid = 0;
  int id_column = 0;  ///< number of the view's _id
  ViewParts parts;    ///< everything but rows that the documents depend on
  std::vector<TrackDesign> tracks;
  std::optional<ViewLinks> links;  ///< none: the view's query cannot be read
  ViewReads reads;
  std::string line;
};

/// A tracked table, and the work of its triggers.
struct TableDesign {
  PostgresRelation relation;
  std::vector<TableMember> members;   ///< partitions and inheriting tables, which get the triggers too
  std::vector<std::size_t> captures;  ///< positions in PipelineDesign::captures
  bool every_update = false;          ///< every update counts
  bool every_column = false;          ///< an update counts if any column changed
  std::set<std::string> columns;      ///< otherwise an update counts if one of these changed (names)
};

struct PipelineDesign {
  std::optional<std::int64_t> max_outbox_size;  ///< bytes; none: no limit
  ValueSettings settings;                       ///< the settings on which values of captures depend, in this
                                                ///< session
  std::vector<IndexDesign> indices;
  std::vector<CaptureDesign> captures;
  std::map<std::string, TableDesign> tables;  ///< by quoted name
  std::vector<Finding> findings;              ///< faults and warnings, in the order of the configuration
  std::vector<Finding> denied;                ///< objects that the current user had no right to look into
};

/// The name of the function that `apply` makes of a track's query. Empty: the track needs none. Another query
/// has another name, so a process that still knows the old function meets an error, never another meaning.
std::string resolver_name(const PipelineDesign& design, const TrackDesign& track);

/// Designs `indices`: those of the configuration and those that wanted_indices() adds. Faults become
/// findings, and the design leaves out the parts that they concern. REQUIRES: the source is PostgreSQL.
PipelineDesign design_pipeline(PostgresTransaction& transaction, const Config& config,
                               const std::vector<IndexConfig>& indices);

}  // namespace lockstep
