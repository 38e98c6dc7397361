// Finds the documents of due changes alongside the tail, on a connection and in a thread of its own: for
// hundreds of thousands of documents that takes a second.
//
// The ids are gathered in a temporary table, which is this connection's own, while a snapshot is open. They
// are copied into the application's file page by page, each in a short transaction. They come from a
// newer snapshot than the change: a document that no longer depends on the changed row has changed itself
// meanwhile, and its own tracks lead to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/mutex.h"
#include "replicator/source/outbox/due.h"
#include "replicator/source/outbox/due_searches.h"
#include "replicator/source/sqlite/read/due.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/position.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteDueFinder {
 public:
  /// Connects when there is work.
  explicit SqliteDueFinder(SourceConfig source) : source_(std::move(source)) {}
  /// Ends the search; the next leader does it again.
  ~SqliteDueFinder();
  SqliteDueFinder(const SqliteDueFinder&) = delete;
  SqliteDueFinder& operator=(const SqliteDueFinder&) = delete;

  /// As ChangeLog::find_due(). Throws Error; ViewError if it would fail again.
  std::optional<FoundDue> advance(const SqlitePipeline& pipeline, const SqliteIndex& index);

 private:
  FoundDue find(const SqlitePipeline& pipeline, const SqliteIndex& index);
  /// Finds the documents of the oldest changes, or of a part of a large one. False: there are none.
  bool find_oldest(const SqlitePipeline& pipeline, const SqliteIndex& index, DueNumber up_to,
                   FoundDue& found);
  /// Gathers the documents of some of the rows; returns the rows that are left.
  std::optional<SqliteRows> gather_rows(const SqlitePipeline& pipeline, const SqliteIndex& index,
                                        const SqliteRows& rows, FoundDue& found);
  void gather(const SqlitePipeline& pipeline, const SqliteIndex& index,
              const std::vector<CapturedChange>& changes);
  /// Gathered documents join the pages that have them, and leave; returns how many do.
  std::int64_t join_pages(const SqliteIndex& index, const SqliteDueChanges& due);
  /// Makes pages of the rest; returns how many documents these have.
  std::int64_t write_pages(const SqliteIndex& index, const SqliteDueChanges& due);
  bool is_cancelled();

  const SourceConfig source_;
  std::unique_ptr<SqliteConnection> connection_;  // of the thread, as the next two
  DueNumber in_hand_{};                           // the changes whose documents are found
  DueNumber last_before_{};                       // the last number from before them
  Mutex mutex_;
  /// connection_, for interrupt() by others; null: there is none.
  SqliteConnection* interrupted_ LOCKSTEP_GUARDED_BY(mutex_) = nullptr;
  bool is_cancelled_ LOCKSTEP_GUARDED_BY(mutex_) = false;
  DueSearches searches_;
};

}  // namespace lockstep
