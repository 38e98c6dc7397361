// The leader's report about itself in lockstep.pipeline_status.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresStatusWriter final : public StatusWriter {
 public:
  /// As open_status_writer().
  explicit PostgresStatusWriter(const Config& config);

  void publish(const PublishedStatus& status) override;
  bool is_led() override;
  std::vector<LockWait> lock_waits() override;

 private:
  PostgresSession session_;
  const std::string pipeline_name_;
  int pipeline_ = 0;
  std::string identity_;
  std::string opened_at_;  // by the server's clock
};

}  // namespace lockstep
