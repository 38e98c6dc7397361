#include "replicator/cli/options/lock_mode_option.h"

#include "replicator/config/lock_mode_config.h"

namespace lockstep {

void LockModeOption::add_to(Options options) {
  options
      .option("-c,--config", file_,
              "A configuration file; uses its [locks], [tree], and [elasticsearch] or [source]")
      .or_environment("LOCKSTEP_CONFIG")
      .value_name("FILE")
      .show_default();
}

Config LockModeOption::load() const {
  return load_lock_mode_config(file_);
}

}  // namespace lockstep
