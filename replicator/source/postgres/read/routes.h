// Under which routings the documents of an index may be in Elasticsearch. A document that changes its routing
// lives on another shard from then on, and the old one has to be told; a document that has left the view has
// no routing any more, and only this table knows where it was.
//
// R1. A routing is in the table, committed, before a document is written under it, and goes only after a
// delete
//     under it with a version not lower than the table's was acknowledged.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

class PostgresRoutes {
 public:
  /// `version` is that of the documents' next writes. All references must outlive this. Does nothing for an
  /// index without routing, nor without a version: who writes nothing has nothing to remember.
  PostgresRoutes(pqxx::transaction_base& transaction, PostgresSession& session, const AppliedIndex& index,
                 std::optional<DocumentVersion> version)
      : transaction_(transaction),
        session_(session),
        index_(index),
        version_(index.routed ? version : std::nullopt) {}

  /// Reads what is known of these documents.
  void load(const Values& ids);

  /// Tells the document its stale routings; its own will be remembered by save().
  void fill(RenderedDocument& document);

  /// Remembers the routings of the documents seen by fill().
  void save();

 private:
  pqxx::transaction_base& transaction_;
  PostgresSession& session_;
  const AppliedIndex& index_;
  std::optional<DocumentVersion> version_;
  std::multimap<std::string, std::string> known_;  // id → routing
  Values ids_;
  Values routings_;
};

}  // namespace lockstep
