// The status of a pipeline, out of PostgreSQL.
#pragma once

#include <optional>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresStatus final : public StatusReader {
 public:
  /// Connects. Throws Error.
  explicit PostgresStatus(const Config& config);

  std::optional<PipelineStatus> read() override;

 private:
  PostgresSession session_;
  std::string schema_name_;  // not quoted
  std::string pipeline_;
};

}  // namespace lockstep
