// One repeatable-read transaction of the tail on PostgreSQL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/read/snapshot.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

class PostgresTransaction final : public SourceTransaction {
 public:
  enum class Access { kReadWrite, kReadOnly };

  /// `captures` is the array literal of the pipeline's capture ids; `being_expanded` the job whose documents
  /// are being looked for beside this; 0: none. Both references must outlive this.
  PostgresTransaction(PostgresSession& session, int pipeline, const std::string& captures, Access access,
                      std::int64_t being_expanded = 0);

  Changes read_changes(const Position& from, std::int64_t max_values) override;
  std::optional<Values> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                std::int64_t limit) override;
  Job add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes) override;
  Values render(const AppliedIndex& index, const Values& ids, std::int64_t max_bytes,
                std::optional<DocumentVersion> version, const DocumentSink& sink) override;
  Page render_page(const AppliedIndex& index, const std::optional<std::string>& after, std::int64_t limit,
                   std::int64_t max_bytes, std::optional<DocumentVersion> version,
                   const DocumentSink& sink) override;
  JobPage job_page(const Job& job, const std::optional<std::string>& after, std::int64_t limit) override;
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override;
  std::optional<Job> add_job(int index, JobKind kind, const std::string& reason) override;
  std::vector<Job> add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason) override;
  void give_up_changes() override;
  void set_aside(int index, const std::string& reason) override;
  void take_back(int index) override;
  void begin_job(std::int64_t job) override;
  Position place() override;
  std::vector<std::size_t> save(Epoch epoch, const Acknowledged& acknowledged) override;
  bool may_be_shown(Epoch epoch) override;
  void commit() override;

 private:
  template <typename... Parameters>
  pqxx::result run(const char* doing, const std::string& statement, const Parameters&... parameters);

  PostgresJobs jobs() { return {*transaction_, session_, pipeline_}; }

  void save_position(Epoch epoch, const std::optional<Position>& position);
  std::vector<std::size_t> save_dead_letters(const Acknowledged& acknowledged);
  void forget_routes(const std::vector<AcknowledgedWrite>& gone);

  PostgresSession& session_;
  int pipeline_;
  const std::string& captures_;
  const std::int64_t being_expanded_;
  // Repeatable read: what save() writes belongs to the snapshot that was read.
  std::unique_ptr<pqxx::transaction_base> transaction_;
  std::optional<std::string> seen_wal_;  // nothing that the snapshot sees is behind this place in the WAL
};

}  // namespace lockstep
