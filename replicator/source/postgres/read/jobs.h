// Work beside the tail, as lockstep.job, job_change and job_page keep it: a transaction adds jobs, reads
// their pages and saves how far they have been acknowledged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

JobKind job_kind(std::string_view name);

/// Everything here throws what libpqxx throws.
class PostgresJobs {
 public:
  /// Both references must outlive this.
  PostgresJobs(pqxx::transaction_base& transaction, PostgresSession& session, int pipeline)
      : transaction_(transaction), session_(session), pipeline_(pipeline) {}

  /// A job of a whole index, unless one of the kind is there that has not begun.
  std::optional<Job> add(int index, JobKind kind, const std::string& reason);

  /// A fan-out job of the documents that the changes lead to, which expand() finds, or one that they join.
  /// `being_expanded` is the job whose documents are being looked for; 0: none.
  Job add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                  std::int64_t being_expanded);

  /// Finds the job's documents, unless somebody else has; returns how many they are.
  std::int64_t expand(const AppliedIndex& index, std::int64_t job);

  std::vector<Job> add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason);

  void begin(std::int64_t job);

  SourceTransaction::JobPage page(const Job& job, const std::optional<std::string>& after,
                                  std::int64_t limit);

  void save(const JobProgress& progress);

 private:
  template <typename... Parameters>
  pqxx::result run(std::string_view statement, const Parameters&... parameters);

  Job insert(int index, JobKind kind, const std::string& reason, std::optional<std::int64_t> behind = {});
  std::optional<std::int64_t> job_ahead(int index, const std::vector<CapturedChange>& changes,
                                        std::int64_t being_expanded);
  /// Returns how many documents `ids_query` has led to, which are the job's total now.
  std::int64_t add_documents(std::int64_t job, const std::string& ids_query);

  pqxx::transaction_base& transaction_;
  PostgresSession& session_;
  int pipeline_;
};

}  // namespace lockstep
