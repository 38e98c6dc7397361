// The connection that reads pages of jobs alongside the leader's transactions.
#pragma once

#include <memory>
#include <string>

#include "replicator/source/page_connection.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/read/shared_rendering.h"
#include "replicator/source/postgres/session/side_session.h"

namespace lockstep {

class PostgresPageConnection final : public PageConnection {
 public:
  /// `purpose` as of PostgresSession.
  PostgresPageConnection(const SourceConfig& source, const std::string& purpose, PostgresPipeline pipeline)
      : session_(source, purpose),
        sharing_(source, purpose + ", rendering"),
        pipeline_(std::move(pipeline)) {}

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override;
  void cancel() override {
    session_.cancel();
    sharing_.cancel_statements();
  }

 private:
  PostgresSideSession session_;
  SharedRendering sharing_;
  const PostgresPipeline pipeline_;  // a copy: the leader's thread may reload its own
};

}  // namespace lockstep
