// The leader's report about itself in the file next to the database.
#pragma once

#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/sqlite/read/first_seen.h"
#include "replicator/source/sqlite/session/byte_lock.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteStatusWriter final : public StatusWriter {
 public:
  /// As open_status_writer().
  explicit SqliteStatusWriter(const Config& config);

  void publish(const PublishedStatus& status) override;
  bool is_led() override;
  std::vector<LockWait> lock_waits() override { return {}; }  // readers are never blocked

 private:
  SqliteConnection connection_;
  const std::string pipeline_name_;
  const int pipeline_;
  const std::string opened_at_;  // ISO 8601
  ByteLock lead_;
  FirstSeen first_seen_;
};

}  // namespace lockstep
