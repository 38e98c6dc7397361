// lockstep.reindex: people's orders for a reindex, and the steps of the leader (migration 0013 has the
// states).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

class PostgresReindexes final : public Reindexes {
 public:
  /// All must outlive this. `schema_name` is the configured one, unquoted.
  PostgresReindexes(PostgresSession& session, const PostgresPipeline& pipeline,
                    const std::string& schema_name)
      : session_(session), pipeline_(pipeline), schema_name_(schema_name) {}

  std::vector<Reindex> all() override;
  bool start(const WantedReindex& wanted) override;
  bool limit(ReindexId reindex, std::optional<std::int64_t> max_rate) override;
  bool want(ReindexId reindex, ReindexWish wish, Force force) override;
  bool advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) override;
  void note(ReindexId reindex, const std::string& reason) override;
  std::int64_t refused_beside(const Reindex& reindex) override;
  void note_pace(IndexId index, JobKind kind, const Pace& pace) override;
  std::optional<Pace> pace(IndexId index, JobKind kind) override;

 private:
  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
  const std::string& schema_name_;
};

}  // namespace lockstep
