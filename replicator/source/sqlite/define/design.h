// A configuration's design for a file: the captured values of each table's rows, and how they lead to ids of
// documents. Made from the configuration and the schema alone; changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/define/index_plan.h"
#include "replicator/source/definition.h"
#include "replicator/source/sqlite/catalog/view_parts.h"
#include "replicator/source/sqlite/define/wanted.h"

namespace lockstep {

struct SqliteTrackDesign {
  std::size_t capture = 0;  ///< position in SqlitePipelineDesign::captures
  /// SQL from ?1, a JSON array of values, to _ids. Empty: the values are the _ids.
  std::string resolver;
  std::string table;
  std::string line;  ///< "<file>:<line>"
};

/// Its id_type is "integer", "text", or "any" if the values may have several types.
struct SqliteIndexDesign : DescribedIndex {
  std::string alias;
  SqliteViewParts parts;
  std::vector<SqliteTrackDesign> tracks;
  std::string line;
};

struct SqlitePipelineDesign {
  std::optional<std::int64_t> max_outbox_size;  ///< bytes; none: no limit
  std::vector<SqliteIndexDesign> indices;
  std::vector<SqliteTableCapture> captures;
  std::vector<Finding> findings;  ///< faults and warnings, in the order of the configuration
};

/// Designs `indices`: those of the configuration and those that wanted_indices() adds. Faults become
/// findings, and the design leaves out the parts that they concern. REQUIRES: the source is SQLite.
SqlitePipelineDesign design_pipeline(SqliteConnection& connection, const Config& config,
                                     const std::vector<IndexConfig>& indices);

}  // namespace lockstep
