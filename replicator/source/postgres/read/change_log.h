// The stream of changes on PostgreSQL: positions are differences of snapshots, and the outbox has the changes
// between them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replicator/source/change_log.h"
#include "replicator/source/postgres/read/due_finder.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/shared_rendering.h"
#include "replicator/source/postgres/session/session.h"
#include "replicator/source/postgres/watch/awaited.h"

namespace lockstep {

class PostgresChangeLog final : public ChangeLog {
 public:
  /// `source` and `purpose` are those of `session`, for further connections. `session` and `pipeline` must
  /// outlive this.
  PostgresChangeLog(PostgresSession& session, const PostgresPipeline& pipeline, const SourceConfig& source,
                    const std::string& purpose)
      : session_(session),
        pipeline_(pipeline),
        source_(source),
        purpose_(purpose),
        sharing_(source, purpose + ", rendering"),
        finder_(source, purpose + ", large changes") {}

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override;
  std::unique_ptr<SourceTransaction> begin_repair() override;
  std::unique_ptr<PageConnection> page_connection() override;
  bool cancel_reading() override;
  std::unique_ptr<SourceSnapshot> read() override;
  Position checkpoint() override;
  bool has_passed(const Position& position) override;
  bool may_have_changed(const Position& position) override;
  bool await_change(const Position& position, std::chrono::milliseconds check_every,
                    std::chrono::milliseconds at_most) override;
  std::chrono::milliseconds save_within() override;
  UnfinishedJobs jobs() override;
  std::vector<DueList> due() override;
  std::optional<FoundDue> find_due(const AppliedIndex& index) override;

 private:
  PostgresSession& session_;
  const PostgresPipeline& pipeline_;
  const SourceConfig source_;
  const std::string purpose_;
  SharedRendering sharing_;
  PostgresDueFinder finder_;
  bool changed_ = false;                      // await_change() has reported it, and nothing was read since
  std::unique_ptr<PostgresAwaited> awaited_;  // listens from the first save_within() on
};

}  // namespace lockstep
