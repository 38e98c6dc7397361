// Under which routings Elasticsearch may have the documents of an index. A document whose routing changes
// moves to another shard, and the old shard must be updated. A document that has left the view has no routing
// any more, and only this table knows where it was.
//
// R1. A routing is in the table, committed, before a document is written under it. It goes only after
//     Elasticsearch has acknowledged a delete under it with a version not lower than the table's.
#pragma once

#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/source/known_routes.h"
#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/snapshot.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

/// Routings that documents are about to be written under.
struct SqliteNewRoutes {
  IndexId index;
  DocumentVersion version;
  std::vector<DocumentId> ids;
  std::vector<std::string> routings;  ///< as many
};

/// The routings of the documents of one page, for an index whose view has a _routing.
class SqliteRoutes {
 public:
  /// `version` is that of the documents' next writes. `connection` must outlive this.
  SqliteRoutes(SqliteConnection& connection, const SqliteIndex& index, DocumentVersion version)
      : connection_(connection), fresh_{index.id, version, {}, {}} {}

  /// Loads the known routings of these documents. Throws Error.
  void load(const DocumentIds& ids);

  /// Fills the document's stale routings, and remembers its own for fresh().
  void fill(RenderedDocument& document);

  /// Those of the documents that fill() has seen.
  SqliteNewRoutes take_fresh() { return std::move(fresh_); }

 private:
  SqliteConnection& connection_;
  KnownRoutes known_;
  SqliteNewRoutes fresh_;
};

/// Each throws Error. REQUIRES: a SqliteWrite is open.
void save_routes(SqliteConnection& connection, const SqliteNewRoutes& routes);
/// Forgets these routings, unless a later write has used them again.
void forget_routes(SqliteConnection& connection, const std::vector<AcknowledgedWrite>& deleted);
/// Remembers routings under which documents were found that no write of Lockstep's put there.
void add_found_routes(SqliteConnection& connection, IndexId index, const std::vector<FoundDocument>& found);

}  // namespace lockstep
