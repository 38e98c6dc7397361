// -c for the commands of lock mode, which need no index, only the backend of the locks.
#pragma once

#include <string>

#include "replicator/cli/options/config_file_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/config/config.h"

namespace lockstep {

class LockModeOption {
 public:
  /// Adds -c, --config.
  void add_to(Options options);

  /// Loads the configuration. Throws UsageError if it is wrong.
  Config load() const;

 private:
  ConfigFileOption file_;
};

}  // namespace lockstep
