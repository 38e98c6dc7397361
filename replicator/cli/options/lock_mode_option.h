// -c for the commands of lock mode, which need no index, only the backend of the locks.
#pragma once

#include <string>

#include "replicator/cli/options/options.h"
#include "replicator/config/config.h"

namespace lockstep {

class LockModeOption {
 public:
  /// Adds -c, --config; without it $LOCKSTEP_CONFIG, then /etc/lockstep/lockstep.toml.
  void add_to(Options options);

  /// Loads the configuration. Throws UsageError when it is wrong.
  Config load() const;

 private:
  std::string file_ = "/etc/lockstep/lockstep.toml";
};

}  // namespace lockstep
