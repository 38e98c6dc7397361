// A pipeline as `apply` has left it in a SQLite file: besides the facts of every source, the columns and
// queries by which SQLite leads from changed rows to documents.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/applied.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// The outbox's part of a changed row.
struct SqliteCapture {
  int columns = 1;
  /// From ?1, a JSON array of the outbox's values, to the values, one a row; none: these are the values.
  std::optional<std::string> query;
};

/// How the values of a capture lead to documents of an index.
struct SqliteTrack {
  CaptureId capture;
  std::optional<std::string>
      resolver;  ///< from ?1, a JSON array of values, to _ids; none: the values are the _ids
};

struct SqliteField {
  std::string name;
  bool holds_json = false;
};

struct SqliteIndex {
  enum class IdType { kInteger, kText, kAny };

  IndexId id;
  std::string alias;
  std::string view;  ///< quoted
  IdType id_type = IdType::kAny;
  bool routed = false;  ///< the view has a column _routing
  std::vector<SqliteField> fields;
  std::vector<SqliteTrack> tracks;
};

struct SqlitePipeline {
  AppliedPipeline applied;
  std::vector<SqliteIndex> indices;
  std::map<CaptureId, SqliteCapture> captures;  ///< to which a track of the pipeline leads

  int id() const { return applied.id; }

  /// Throws Error if the pipeline has no such index.
  const SqliteIndex& index(IndexId id) const;
};

/// The type stored as "integer", "text" or "any". Throws Error for any other, naming it and the index.
SqliteIndex::IdType sqlite_id_type(const std::string& name, const std::string& alias);

/// Fields of these names; those in `holding` hold JSON.
std::vector<SqliteField> sqlite_fields(std::vector<std::string> names,
                                       const std::vector<std::string>& holding);

/// Loads the pipeline of this name. Throws SourceAbsent if it was not applied to this file, OtherVersion if
/// another version of Lockstep did it, and Error.
SqlitePipeline load_sqlite_pipeline(SqliteConnection& connection, const std::string& name);

struct SqlitePipelineRow {
  int id = 0;
  std::string identity;
  std::string revision;
};

/// The row of the pipeline. Throws as load_sqlite_pipeline() does.
SqlitePipelineRow require_applied(SqliteConnection& connection, const std::string& name);

}  // namespace lockstep
