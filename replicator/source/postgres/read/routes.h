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
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// The routings of the documents of one page, for an index whose view has a _routing.
class PostgresRoutes {
 public:
  /// `version` is that of the documents' next writes. Both references must outlive this.
  PostgresRoutes(PostgresTransaction& transaction, const PostgresIndex& index, DocumentVersion version)
      : transaction_(transaction), index_(index), version_(version) {}

  /// Loads the known routings of these documents. Throws Error.
  void load(const DocumentIds& ids);

  /// Fills the document's stale routings, and remembers its own for save().
  void fill(RenderedDocument& document);

  /// Writes the routings of the documents that fill() has seen. Throws Error.
  void save();

 private:
  PostgresTransaction& transaction_;
  const PostgresIndex& index_;
  const DocumentVersion version_;
  KnownRoutes known_;
  std::vector<std::string> ids_;
  std::vector<std::string> routings_;
};

/// Forgets these routings, unless a later write has used them again. Throws Error.
void forget_routes(PostgresTransaction& transaction, const std::vector<AcknowledgedWrite>& deleted);

}  // namespace lockstep
