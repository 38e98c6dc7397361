// A SourceSnapshot of PostgreSQL: a transaction in one snapshot, which PostgresViews reads.
#pragma once

#include <string_view>

#include "replicator/source/postgres/read/views.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// The part of `Contract`, which is SourceSnapshot or SourceTransaction, that only reads.
template <typename Contract>
class PostgresReading : public Contract {
 public:
  Position position() override { return views_.position(); }
  DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     const DocumentSink& sink) override {
    return views_.render(index, ids, max_bytes, sink);
  }
  ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) override {
    return views_.render_page(index, after, limit, max_bytes, sink);
  }
  ViewList list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                     std::int64_t limit) override {
    return views_.list_page(index, after, limit);
  }
  std::optional<std::int64_t> estimate_documents(const AppliedIndex& index) override {
    return views_.estimate_documents(index);
  }
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override {
    return views_.stale(index, found);
  }
  std::vector<DefinitionDifference> reshaped(const AppliedIndex& index) override {
    return views_.reshaped(index);
  }
  void require_readable(const AppliedIndex& index) override { views_.require_readable(index); }

 protected:
  /// All must outlive this; `sharing` as of PostgresViews. Throws Error.
  PostgresReading(PostgresSession& session, const PostgresPipeline& pipeline, std::string_view opening,
                  Isolation isolation, SharedRendering* sharing = nullptr)
      : transaction_(session, opening, isolation), views_(transaction_, pipeline, sharing) {}

  PostgresTransaction transaction_;
  PostgresViews views_;
};

/// Writes nothing.
class PostgresSourceSnapshot final : public PostgresReading<SourceSnapshot> {
 public:
  /// Both references must outlive this. Throws Error.
  PostgresSourceSnapshot(PostgresSession& session, const PostgresPipeline& pipeline)
      : PostgresReading(session, pipeline, "opening a snapshot", Isolation::kRepeatableReadOnly) {}
};

}  // namespace lockstep
