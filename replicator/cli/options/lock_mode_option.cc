#include "replicator/cli/options/lock_mode_option.h"

#include "replicator/config/lock_mode_config.h"

namespace lockstep {

void LockModeOption::add_to(Options options) {
  file_.add_to(options, "A configuration file; uses its [locks], [tree], and [elasticsearch] or [source]");
}

Config LockModeOption::load() const {
  return load_lock_mode_config(file_.file());
}

}  // namespace lockstep
