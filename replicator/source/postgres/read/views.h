// Reads an index's view inside of a transaction: documents by id or page by page, and which documents it does
// not have. Readers and the leader share this.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/routes.h"
#include "replicator/source/postgres/read/shared_rendering.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// Every function throws ViewError if reading the view again would fail in the same way, Error otherwise. A
/// ViewError of a document names its row, if one row is to blame; the transaction is over then.
class PostgresViews {
 public:
  /// All must outlive this. Without `sharing` the transaction's own connection renders everything; with it,
  /// the transaction must be in one snapshot.
  PostgresViews(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                SharedRendering* sharing = nullptr)
      : transaction_(transaction), pipeline_(pipeline), sharing_(sharing) {}

  Position position();

  // As those of SourceSnapshot.
  DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     const DocumentSink& sink);
  ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink);
  ViewList list_page(const AppliedIndex& index, const std::optional<DocumentId>& after, std::int64_t limit);
  std::int64_t estimate_documents(const AppliedIndex& index);
  std::vector<StaleDocument> stale(const AppliedIndex& index, const std::vector<FoundDocument>& found);
  std::vector<DefinitionDifference> reshaped(const AppliedIndex& index);
  void require_readable(const AppliedIndex& index);

  // As those of SourceTransaction.
  DocumentIds render_for(DocumentVersion version, const AppliedIndex& index, const DocumentIds& ids,
                         std::int64_t max_bytes, const DocumentSink& sink);
  ViewPageEnd render_page_for(DocumentVersion version, const AppliedIndex& index,
                              const std::optional<DocumentId>& after, std::int64_t limit,
                              std::int64_t max_bytes, const DocumentSink& sink);

 private:
  // `routes` fills each document's stale routings; null: they are not asked for.
  DocumentIds render(const PostgresIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     PostgresRoutes* routes, const DocumentSink& sink);
  ViewPageEnd render_page(const PostgresIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, PostgresRoutes* routes,
                          const DocumentSink& sink);
  std::string render_statement(const PostgresIndex& index, std::string_view filter);
  /// $1 bytes, $2 ids.
  std::string statement_by_ids(const PostgresIndex& index);
  std::optional<PostgresRoutes> routes_for(DocumentVersion version, const PostgresIndex& index);

  PostgresTransaction& transaction_;
  const PostgresPipeline& pipeline_;
  SharedRendering* const sharing_;
};

}  // namespace lockstep
