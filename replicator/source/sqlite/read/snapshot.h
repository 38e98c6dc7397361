// A SourceSnapshot of SQLite: a transaction that reads, and SqliteViews in it.
#pragma once

#include <string_view>

#include "replicator/source/snapshot.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/views.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {

/// The part of `Contract`, which is SourceSnapshot or SourceTransaction, that only reads.
template <typename Contract>
class SqliteReading : public Contract {
 public:
  Position position() override { return position_at(newest_outbox_id(connection_)); }
  DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     const DocumentSink& sink) override {
    return views_.render(pipeline_.index(index.id), ids, max_bytes, nullptr, sink);
  }
  ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) override {
    return views_.render_page(pipeline_.index(index.id), after, limit, max_bytes, nullptr, sink);
  }
  ViewList list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                     std::int64_t limit) override {
    return views_.list_page(pipeline_.index(index.id), after, limit);
  }
  std::optional<std::int64_t> estimate_documents(const AppliedIndex& index) override {
    return views_.estimate_documents(pipeline_.index(index.id));
  }
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override {
    return views_.stale(pipeline_.index(index.id), found);
  }
  std::vector<DefinitionDifference> reshaped(const AppliedIndex& index) override {
    return views_.reshaped(pipeline_.index(index.id));
  }
  void require_readable(const AppliedIndex& index) override {
    views_.require_readable(pipeline_.index(index.id));
  }

 protected:
  /// Both references must outlive this. Throws Error.
  SqliteReading(SqliteConnection& connection, const SqlitePipeline& pipeline, std::string_view opening)
      : connection_(connection),
        pipeline_(pipeline),
        snapshot_(connection, opening),
        views_(connection, pipeline) {}

  SqliteConnection& connection_;
  const SqlitePipeline& pipeline_;
  SqliteSnapshot snapshot_;
  SqliteViews views_;
};

/// Writes nothing.
class SqliteSourceSnapshot final : public SqliteReading<SourceSnapshot> {
 public:
  /// Both references must outlive this. Throws Error.
  SqliteSourceSnapshot(SqliteConnection& connection, const SqlitePipeline& pipeline)
      : SqliteReading(connection, pipeline, "opening a snapshot") {}
};

}  // namespace lockstep
