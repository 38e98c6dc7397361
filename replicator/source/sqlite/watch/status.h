// The status of a pipeline, out of a SQLite file and the file next to it.
#pragma once

#include <optional>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteStatus final : public StatusReader {
 public:
  /// Connects. Throws Error.
  explicit SqliteStatus(const Config& config);

  std::optional<PipelineStatus> read() override;

 private:
  SqliteConnection connection_;
  const std::string pipeline_;
};

}  // namespace lockstep
