// The lock manager whose locks and journal are documents of Elasticsearch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/stored_locks.h"

namespace lockstep {

struct LockIndices {
  std::string locks;    ///< "lockstep-locks"
  std::string journal;  ///< "lockstep-journal"
};

/// "lockstep-locks" → "lockstep-locks" and "lockstep-journal"; "x" → "x" and "x-journal".
LockIndices lock_indices(const std::string& index);

class ElasticsearchLocks final : public StoredLocks {
 public:
  /// `request_timeout` limits each request; prepare() has more time, since no lease runs yet.
  ElasticsearchLocks(std::unique_ptr<HttpTransport> transport, LockIndices indices,
                     std::chrono::milliseconds lease, std::chrono::milliseconds request_timeout);

  void prepare() override;
  bool attach() override;

 private:
  std::optional<std::string> vanished(Place place) override;
  void restore() override;
  void require_template();

  ElasticsearchClient client_;
  const LockIndices indices_;
  const std::chrono::milliseconds request_timeout_;
};

}  // namespace lockstep
