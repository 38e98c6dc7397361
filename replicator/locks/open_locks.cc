#include "replicator/locks/open_locks.h"

#include <algorithm>

#include "replicator/elasticsearch/curl_transport.h"
#include "replicator/error.h"
#include "replicator/locks/elasticsearch_locks.h"

namespace lockstep {

std::unique_ptr<LockManager> open_locks(const Config& config) {
  if (config.locks.backend == LocksConfig::Backend::kPostgresql) {
    throw UsageError(config.file.string() +
                     ": this build keeps locks in Elasticsearch only; write backend = \"elasticsearch\"");
  }
  // A request that hangs must end while the lease that it should renew still runs.
  ElasticsearchConfig elasticsearch = config.elasticsearch;
  const std::chrono::milliseconds part = config.locks.lease / 3;
  elasticsearch.connect_timeout = std::min(elasticsearch.connect_timeout, part);
  return std::make_unique<ElasticsearchLocks>(make_transport_factory(elasticsearch)(),
                                              lock_indices(config.locks.index), config.locks.lease,
                                              std::min(elasticsearch.request_timeout, part));
}

}  // namespace lockstep
