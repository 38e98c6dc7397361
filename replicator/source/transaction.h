// The leader's transaction: reads a chunk of changes or a page of a job, renders its documents from the same
// snapshot, and records its results.
//
// The contract (tests/contract/source_contract.h runs it over every implementation):
// S1. Every change that commits is in exactly one chunk between two positions, whatever ids and transaction
//     numbers do; a change that is rolled back is in none.
// S2. A chunk's documents come from one snapshot, which contains everything that the chunk reports.
// S3. Snapshots of successive transactions do not go back.
// S4. When commit() returns, everything that the transaction could see is durable: a crash of the source
//     cannot take back data that Elasticsearch is shown afterwards. may_be_shown() means that it is durable
//     already.
// S5. commit() throws Deposed if another process became leader before it ended; may_be_shown() does so if
//     this happened before the snapshot.
// S6. Recorded writes take effect in commit(), all of them or none. This transaction may see them before or
//     not. (PostgreSQL makes them at once; SQLite, which cannot write in a snapshot that has read, makes them
//     in a transaction of its own that follows.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/outbox/due.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// The additions of a commit.
struct Committed {
  std::vector<Job> jobs = {};
  std::set<IndexId> due = {};  ///< indices with more due documents
};

/// At most one is open on a Source at a time. Destroying it without commit() drops its records.
class SourceTransaction : public SourceSnapshot {
 public:
  /// Takes the snapshot, if nothing has been read yet. Without it the first function that reads does so, or
  /// the opening has done so already.
  virtual void take_snapshot() {}

  // --- changes ---

  /// The changes that this snapshot sees behind `from`. Costs no more than a chunk, for transactions of any
  /// size.
  virtual Changes read_changes(const Position& from, const ChunkLimits& limits) = 0;

  /// The documents of `index` that the changes lead to; none if these are not found within `limits`.
  /// REQUIRES: no change means `everything`.
  virtual std::optional<DocumentIds> resolve(const AppliedIndex& index,
                                             const std::vector<CapturedChange>& changes,
                                             const SearchLimits& limits) = 0;

  /// The index's due documents, apart from the pages with the numbers `in_hand`.
  virtual NextDue next_due(IndexId index, const std::vector<DueNumber>& in_hand) = 0;

  // --- documents that will be written ---

  /// As render() and render_page(), for documents that are about to be written under `version`: fills their
  /// stale routings, and records the routing that each has now.
  virtual DocumentIds render_for(DocumentVersion version, const AppliedIndex& index, const DocumentIds& ids,
                                 std::int64_t max_bytes, const DocumentSink& sink) = 0;
  virtual ViewPageEnd render_page_for(DocumentVersion version, const AppliedIndex& index,
                                      const std::optional<DocumentId>& after, std::int64_t limit,
                                      std::int64_t max_bytes, const DocumentSink& sink) = 0;

  // --- writes of commit() ---

  /// Adds a job over a whole index, unless one of its kind exists that has not begun.
  virtual void add_job(IndexId index, JobKind kind, const std::string& reason) = 0;

  /// Notes the changes as due: their documents are found later (ChangeLog::find_due). A rendering under
  /// `as_of` or a greater version makes up for them. REQUIRES: no change means `everything`.
  virtual void add_due_changes(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                               DocumentVersion as_of) = 0;

  /// Notes the changes of the transaction as due, regardless of the documents of `index` that they lead to.
  /// The outbox keeps its rows until these are found.
  virtual void add_due_transaction(const AppliedIndex& index, const LargeTransaction& transaction,
                                   DocumentVersion as_of) = 0;

  /// Makes these documents due, wherever Elasticsearch has them. An id that is given twice counts once.
  virtual void add_due(const AppliedIndex& index, const DocumentIds& ids, const DueOrigin& origin) = 0;

  /// Makes these documents due, each under its routing and no other. Documents that rendering by _id does not
  /// reach are deleted by a sweep, which is added as a job. With a pause, those that are on a page behind a
  /// pause already join it, unless save() was called for that page: one that fails again and again is due
  /// once. `routing` is where a document was found, or where it belongs. Any process may call this; the
  /// leader writes them.
  virtual void add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                          const DueOrigin& origin) = 0;

  /// Marks the job as begun.
  virtual void begin_job(JobId job) = 0;

  /// Stops following the index, and forgets its comparisons and sweeps, apart from those that cannot be read:
  /// it will be compared.
  virtual void set_aside(IndexId index, const std::string& reason) = 0;
  /// Follows it again.
  virtual void take_back(IndexId index) = 0;

  /// Skips every change that this snapshot sees, for an outbox that was filled in another database. The
  /// caller adds jobs that compare everything.
  virtual void skip_changes() = 0;

  /// Saves the acknowledgements of Elasticsearch.
  virtual void save(const Acknowledged& acknowledged) = 0;

  /// Those of `refused`, by their positions, that are no dead letters in this snapshot. A document that
  /// `refused` has twice under one routing counts once, at its first position.
  virtual std::vector<std::size_t> new_dead_letters(const std::vector<DeadLetter>& refused) = 0;

  // --- the end ---

  /// Whether Elasticsearch may be shown the read documents without a commit(): nothing is recorded, and
  /// everything that the snapshot sees is durable. False: commit(). Throws Deposed.
  virtual bool may_be_shown() = 0;

  /// Makes the recorded writes, durably, and returns the additions. Throws Deposed.
  virtual Committed commit() = 0;
};

}  // namespace lockstep
