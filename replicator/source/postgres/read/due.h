// The due work, as lockstep.due keeps it: changes and large transactions whose documents are still to be
// found, and pages of documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/outbox/due.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// As ChangeLog::due(). Throws Error.
std::vector<DueList> load_due(PostgresTransaction& transaction, const PostgresPipeline& pipeline);

/// Every function throws Error.
class PostgresDue {
 public:
  /// `transaction` must outlive this.
  explicit PostgresDue(PostgresTransaction& transaction) : transaction_(transaction) {}

  void add(IndexId index, const std::vector<CapturedChange>& changes, DocumentVersion as_of);
  void add(IndexId index, const PostgresLargeTransaction& transaction, DocumentVersion as_of);

  /// Makes the documents due whose ids the query gives; returns how many these are.
  std::int64_t add_pages(IndexId index, const std::string& ids_query, const DueOrigin& origin);

  /// Those of the documents that are not on a page behind a pause already, apart from the pages of `written`.
  /// The others are due as of `origin`, too.
  std::vector<FoundDocument> without_waiting(IndexId index, const std::vector<FoundDocument>& documents,
                                             const DueOrigin& origin,
                                             const std::vector<WrittenPage>& written);

  NextDue next(IndexId index, const std::vector<DueNumber>& in_hand);

  /// The greatest number of the changes whose documents are still to be found; none: there are none.
  std::optional<DueNumber> last_change(IndexId index);

  struct Search {
    DueNumber up_to;             ///< of the changes
    DueNumber in_hand = {};      ///< the large transaction whose parts are found
    DueNumber last_before = {};  ///< the last number from before it
  };

  /// Finds the documents of the oldest changes of `search`, as many as fit the memory, or of a part of a
  /// large transaction, and makes pages of those that were on none before: the others join theirs. Adds its
  /// findings to `found`. False: there were no changes. REQUIRES: the transaction is kReadCommitted.
  bool find(const PostgresPipeline& pipeline, const PostgresIndex& index, Search& search, FoundDue& found);

  /// Returns the indices of those that documents have joined since they were read: they are tried again.
  /// REQUIRES: it sees the commits until then (kEachStatement, kReadCommitted).
  std::vector<IndexId> take_off(const std::vector<WrittenPage>& pages);

 private:
  struct Found;

  void forget(const std::vector<DueNumber>& changes);

  void find_part(const PostgresPipeline& pipeline, const PostgresIndex& index, const Found& transaction,
                 FoundDue& found);
  std::int64_t add_found(IndexId index, const std::string& ids_query, const Found& origin);

  PostgresTransaction& transaction_;
};

}  // namespace lockstep
