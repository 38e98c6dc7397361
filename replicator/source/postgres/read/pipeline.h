// A pipeline as `apply` has left it in PostgreSQL: besides the facts of every source, the types, columns and
// functions by which PostgreSQL leads from changed rows to documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/applied.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// How the values of a capture lead to documents of an index.
struct PostgresTrack {
  CaptureId capture;
  std::string value_type;  ///< of the captured expression, as SQL writes it
  std::string resolver;    ///< function (value_type[]) returns setof text; empty: the values are the ids
};

struct PostgresIndex {
  IndexId id;
  std::string alias;
  std::string view;     ///< quoted, schema-qualified
  std::string id_type;  ///< of the view's _id, as SQL writes it
  bool routed = false;  ///< the view has a column _routing
  std::vector<std::string> fields;
  std::vector<PostgresTrack> tracks;
};

struct PostgresPipeline {
  AppliedPipeline applied;
  std::vector<PostgresIndex> indices;
  std::string captures;  ///< array literal of the ids of all captures

  int id() const { return applied.id; }

  /// Throws Error if the pipeline has no such index.
  const PostgresIndex& index(IndexId id) const;
};

/// Loads the pipeline of this name from the schema `schema_name` (not quoted). Throws UsageError if it was
/// not applied to this database, or by another version of Lockstep, and Error.
PostgresPipeline load_pipeline(PostgresSession& session, const std::string& schema_name,
                               const std::string& name);

/// The row that `statement` finds for the name of a pipeline ($1). Throws as load_pipeline() does.
pqxx::row require_applied(PostgresSession& session, const std::string& schema_name,
                          const std::string& pipeline, std::string_view statement);

}  // namespace lockstep
