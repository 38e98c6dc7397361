#include "replicator/cli/options/lock_mode_option.h"

#include <CLI/CLI.hpp>

#include "replicator/config/lock_mode_config.h"

namespace lockstep {

void LockModeOption::add_to(CLI::App& app) {
  app.add_option("-c,--config", file_,
                 "A configuration file; uses its [locks], [tree], and [elasticsearch] or [source]")
      ->envname("LOCKSTEP_CONFIG")
      ->type_name("FILE")
      ->capture_default_str();
}

Config LockModeOption::load() const {
  return load_lock_mode_config(file_);
}

}  // namespace lockstep
