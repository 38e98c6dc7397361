// A SourceTransaction of PostgreSQL: one repeatable-read transaction. Jobs, routings and the like are written
// at once; the checkpoint, with everything that belongs to it, in commit().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/postgres/read/changes.h"
#include "replicator/source/postgres/read/due.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/transaction.h"

namespace lockstep {

class PostgresSourceTransaction final : public PostgresReading<SourceTransaction> {
 public:
  /// Of the leader of `epoch`; without one, for add_repair(). `sharing` helps to render, unless it is null.
  /// All must outlive this. Throws Error.
  PostgresSourceTransaction(PostgresSession& session, const PostgresPipeline& pipeline,
                            std::optional<Epoch> epoch, SharedRendering* sharing);

  void take_snapshot() override;
  Changes read_changes(const Position& from, const ChunkLimits& limits) override;
  std::optional<DocumentIds> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                     const SearchLimits& limits) override;
  NextDue next_due(IndexId index, const std::vector<DueNumber>& in_hand) override;

  DocumentIds render_for(DocumentVersion version, const AppliedIndex& index, const DocumentIds& ids,
                         std::int64_t max_bytes, const DocumentSink& sink) override {
    return views_.render_for(version, index, ids, max_bytes, sink);
  }
  ViewPageEnd render_page_for(DocumentVersion version, const AppliedIndex& index,
                              const std::optional<DocumentId>& after, std::int64_t limit,
                              std::int64_t max_bytes, const DocumentSink& sink) override {
    return views_.render_page_for(version, index, after, limit, max_bytes, sink);
  }

  void add_job(IndexId index, JobKind kind, const std::string& reason) override;
  void add_due_changes(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                       DocumentVersion as_of) override;
  void add_due_transaction(const AppliedIndex& index, const LargeTransaction& transaction,
                           DocumentVersion as_of) override;
  void add_due(const AppliedIndex& index, const DocumentIds& ids, const DueOrigin& origin) override;
  void add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                  const DueOrigin& origin) override;
  void begin_job(JobId job) override;
  void set_aside(IndexId index, const std::string& reason) override;
  void take_back(IndexId index) override;
  void skip_changes() override;
  void save(const Acknowledged& acknowledged) override;
  std::vector<std::size_t> new_dead_letters(const std::vector<DeadLetter>& refused) override;

  bool may_be_shown() override;
  Committed commit() override;

 private:
  Epoch required_epoch() const;
  /// For statements that write: the snapshot's contents are then no longer complete.
  PostgresTransaction& writing();
  PostgresJobs& written_jobs();
  PostgresDue& written_due();
  void write_checkpoint(PostgresTransaction& transaction, Epoch epoch);
  void write_acknowledged(PostgresTransaction& transaction);
  void commit_acknowledged();
  void take_off_written();

  const PostgresPipeline& pipeline_;
  PostgresJobs jobs_;
  PostgresDue due_;
  const std::optional<Epoch> epoch_;
  std::optional<PostgresSeen> seen_;        // none: nothing has been read, or not by take_snapshot()
  std::optional<Position> checkpoint_;      // for commit()
  std::vector<Acknowledged> acknowledged_;  // for commit()
  std::vector<WrittenPage> written_pages_;  // of acknowledged_
  Committed added_;                         // for commit() to return
};

}  // namespace lockstep
