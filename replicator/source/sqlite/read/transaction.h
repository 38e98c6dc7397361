// A SourceTransaction of SQLite: a snapshot that is only read, and the writes, for the transaction of its own
// in which commit() makes them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/sqlite/read/due.h"
#include "replicator/source/sqlite/read/first_seen.h"
#include "replicator/source/sqlite/read/history.h"
#include "replicator/source/sqlite/read/jobs.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/snapshot.h"
#include "replicator/source/transaction.h"

namespace lockstep {

class SqliteSourceTransaction final : public SqliteReading<SourceTransaction> {
 public:
  /// Of the leader of `epoch`; without one, for add_repair(). The references must outlive this. Throws Error.
  SqliteSourceTransaction(SqliteConnection& connection, const SqlitePipeline& pipeline,
                          const FirstSeen& first_seen, SqliteHistory& history, std::optional<Epoch> epoch);

  Changes read_changes(const Position& from, const ChunkLimits& limits) override;
  std::optional<DocumentIds> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                     const SearchLimits& limits) override;
  NextDue next_due(IndexId index, const std::vector<DueNumber>& in_hand) override;

  DocumentIds render_for(DocumentVersion version, const AppliedIndex& index, const DocumentIds& ids,
                         std::int64_t max_bytes, const DocumentSink& sink) override;
  ViewPageEnd render_page_for(DocumentVersion version, const AppliedIndex& index,
                              const std::optional<DocumentId>& after, std::int64_t limit,
                              std::int64_t max_bytes, const DocumentSink& sink) override;

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
  void keep_routes(SqliteRoutes& routes);
  void write_due(IndexId index, const DocumentIds& ids, const DueOrigin& origin);
  void forget_jobs_of(IndexId index);
  [[noreturn]] void throw_gone_back();
  /// False: another process leads, or the file went back.
  bool write();
  bool write_checkpoint(std::int64_t number);
  void write_acknowledged();

  const FirstSeen& first_seen_;
  SqliteHistory& history_;
  const std::optional<Epoch> epoch_;
  SqliteJobs jobs_;                           // for commit()
  SqliteDue due_;                             // likewise
  std::vector<std::function<void()>> steps_;  // for commit()
  std::optional<Position> checkpoint_;        // for commit()
  std::vector<Acknowledged> acknowledged_;    // for commit()
  std::vector<WrittenPage> written_pages_;    // of acknowledged_
  Committed added_;                           // for commit() to return
};

}  // namespace lockstep
