// The due work, as {schema}_due keeps it: changes and large changes whose documents are still to be found,
// and pages of documents.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/due.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/position.h"
#include "replicator/source/sqlite/session/connection.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// As ChangeLog::due(). Throws Error.
std::vector<DueList> load_due(SqliteConnection& connection, int pipeline);

/// As SourceTransaction::next_due(). Throws Error.
NextDue read_next_due(SqliteConnection& connection, IndexId index, const std::vector<DueNumber>& in_hand);

/// The writes of it. Every function throws Error. REQUIRES: a SqliteWrite is open.
class SqliteDue {
 public:
  /// `connection` must outlive this.
  explicit SqliteDue(SqliteConnection& connection) : connection_(connection) {}

  void add(IndexId index, const std::vector<CapturedChange>& changes, DocumentVersion as_of);
  void add(IndexId index, const SqliteRows& rows, DocumentVersion as_of);

  /// Makes these documents due, each once.
  void add(IndexId index, const DocumentIds& ids, const DueOrigin& origin);

  /// Those of the documents that are not on a page behind a pause already, apart from the pages of `written`.
  /// The others are due as of `origin`, too.
  DocumentIds without_waiting(IndexId index, const DocumentIds& ids, const DueOrigin& origin,
                              const std::vector<WrittenPage>& written);

  /// Lets documents join this page: a later rendering of it makes up for them, too. False: it is gone.
  bool join_page(DueNumber page, const DueOrigin& origin);

  /// A page of documents, at most kDuePageDocuments. `due_at`: milliseconds since 1970.
  void add_page(IndexId index, const DocumentIds& ids, const DueOrigin& origin, std::int64_t due_at);

  /// Changes whose documents are found.
  void forget(const std::vector<DueNumber>& changes);

  /// Returns the indices of those that documents have joined since they were read: they are tried again.
  std::vector<IndexId> take_off(const std::vector<WrittenPage>& pages);

 private:
  std::int64_t next_number();

  SqliteConnection& connection_;
};

/// Changes of an index whose documents are to be found together, or the rest of a large one.
struct SqliteDueChanges {
  std::vector<DueNumber> numbers;  ///< of the entries; empty: there are none
  std::vector<CapturedChange> changes;
  std::optional<SqliteRows> rows;
  DueOrigin origin;
  std::int64_t due_at = 0;  ///< of the oldest
};

/// The greatest number of the changes whose documents are still to be found; none: there are none.
std::optional<DueNumber> last_due_change(SqliteConnection& connection, IndexId index);

/// The oldest of them up to this number, as many as fit the memory.
SqliteDueChanges read_due_changes(SqliteConnection& connection, IndexId index, DueNumber up_to);

/// Milliseconds since 1970.
std::int64_t due_now();

}  // namespace lockstep
