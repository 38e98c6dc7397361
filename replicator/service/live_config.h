// The configuration of a running service, and the part of its file that a reload takes over: everything but
// the pipeline's name and the addresses where it listens. Users of values keep them until they begin again;
// nothing changes under them.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/mutex.h"

namespace lockstep {

/// The keys and sections of `read` that a service that runs with `running` cannot take over: they need a
/// restart.
std::vector<std::string> needs_restart(const Config& running, const Config& read);

/// Thread-safe.
class LiveConfig {
 public:
  struct Values {
    std::shared_ptr<const Config> config;
    BulkWriter::TransportFactory make_transport;
    std::stop_token replaced;  ///< requested when other values are in force
  };
  using MakeFactory = std::function<BulkWriter::TransportFactory(const ElasticsearchConfig&)>;

  /// Throws the errors of `make_factory`.
  LiveConfig(Config config, MakeFactory make_factory);

  Values values() const;

  /// Takes over the values of `read`, one call after the other, and logs the changes. If it throws, or if a
  /// difference needs a restart, everything stays as it is, and the log has the reason.
  void reload(const std::function<Config()>& read);

 private:
  Values made(Config config) const;

  const MakeFactory make_factory_;
  Mutex reloading_ LOCKSTEP_ACQUIRED_BEFORE(mutex_);  // held during a takeover; guards no member
  mutable Mutex mutex_;
  std::stop_source replaced_ LOCKSTEP_GUARDED_BY(mutex_);
  Values values_ LOCKSTEP_GUARDED_BY(mutex_);
};

}  // namespace lockstep
