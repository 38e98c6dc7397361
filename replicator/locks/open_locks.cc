#include "replicator/locks/open_locks.h"

#include <algorithm>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/locks/backends/elasticsearch/locks.h"
#include "replicator/locks/backends/postgres/locks.h"

namespace lockstep {

std::unique_ptr<LockManager> open_locks(const Config& config) {
  // A renewal that hangs must end before the lease does.
  const std::chrono::milliseconds part = config.locks.lease / 3;
  if (config.locks.backend == LocksConfig::Backend::kPostgresql)
    return std::make_unique<PostgresLocks>(config.source, config.locks.lease, part);
  ElasticsearchConfig elasticsearch = config.elasticsearch;
  elasticsearch.connect_timeout = std::min(elasticsearch.connect_timeout, part);
  return std::make_unique<ElasticsearchLocks>(make_transport_factory(elasticsearch)(),
                                              lock_indices(config.locks.index), config.locks.lease,
                                              std::min(elasticsearch.request_timeout, part));
}

}  // namespace lockstep
