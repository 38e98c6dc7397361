// Reads an index's view inside of a snapshot: documents by id or page by page, and which documents it does
// not have. Readers and the leader share this. JSON is written here, since SQLite's own functions write other
// numbers than they were given, and lose through a view which texts are JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/snapshot.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/routes.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Makes the SQL function that pages of ids of several types are ordered by. Once for each connection. Throws
/// SqliteError.
void add_id_function(SqliteConnection& connection);

/// Every function throws ViewError if reading the view again would fail in the same way, Error otherwise.
/// REQUIRES: a snapshot is open.
class SqliteViews {
 public:
  /// Both references must outlive this.
  SqliteViews(SqliteConnection& connection, const SqlitePipeline& pipeline)
      : connection_(connection), pipeline_(pipeline) {}

  // As those of SourceSnapshot. `routes` fills each document's stale routings; null: they are not asked for.
  DocumentIds render(const SqliteIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     SqliteRoutes* routes, const DocumentSink& sink);
  ViewPageEnd render_page(const SqliteIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, SqliteRoutes* routes,
                          const DocumentSink& sink);
  ViewList list_page(const SqliteIndex& index, const std::optional<DocumentId>& after, std::int64_t limit);
  std::optional<std::int64_t> estimate_documents(const SqliteIndex& index);
  std::vector<StaleDocument> stale(const SqliteIndex& index, const std::vector<FoundDocument>& found);
  std::vector<DefinitionDifference> reshaped(const SqliteIndex& index);
  void require_readable(const SqliteIndex& index);

 private:
  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
};

}  // namespace lockstep
