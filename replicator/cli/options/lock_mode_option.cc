#include "replicator/cli/options/lock_mode_option.h"

#include "replicator/config/lock_mode_config.h"

namespace lockstep {

Config LockModeOption::load() const {
  return load_lock_mode_config(file_);
}

}  // namespace lockstep
