// The configuration that a running service goes by, and what a reload takes over from its file: everything
// but what names the pipeline and where it listens. Whoever works with values keeps them until it begins
// anew; nothing changes under it.
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

  /// Throws what `make_factory` throws.
  LiveConfig(Config config, MakeFactory make_factory);

  Values values() const;

  /// Takes over what `read` gives, one call after the other, and logs what has changed. When it throws, or
  /// when something differs that needs a restart, everything stays as it is, and the log says why.
  void reload(const std::function<Config()>& read);

 private:
  Values made(Config config) const;

  const MakeFactory make_factory_;
  Mutex reloading_ LOCKSTEP_ACQUIRED_BEFORE(mutex_);  // held by who takes over something; guards no member
  mutable Mutex mutex_;
  std::stop_source replaced_ LOCKSTEP_GUARDED_BY(mutex_);
  Values values_ LOCKSTEP_GUARDED_BY(mutex_);
};

}  // namespace lockstep
