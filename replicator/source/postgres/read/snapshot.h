// A SourceSnapshot of PostgreSQL: a read-only transaction in one snapshot.
#pragma once

#include "replicator/source/postgres/read/views.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

class PostgresSourceSnapshot final : public SourceSnapshot {
 public:
  /// Both references must outlive this. Throws Error.
  PostgresSourceSnapshot(PostgresSession& session, const PostgresPipeline& pipeline)
      : transaction_(session, "opening a snapshot", Isolation::kRepeatableReadOnly),
        views_(transaction_, pipeline) {}

  Position position() override { return views_.position(); }
  DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     const DocumentSink& sink) override {
    return views_.render(index, ids, max_bytes, sink);
  }
  ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) override {
    return views_.render_page(index, after, limit, max_bytes, sink);
  }
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override {
    return views_.stale(index, found);
  }
  void require_readable(const AppliedIndex& index) override { views_.require_readable(index); }

 private:
  PostgresTransaction transaction_;
  PostgresViews views_;
};

}  // namespace lockstep
