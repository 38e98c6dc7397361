// -c for the verbs of lock mode, which work without an index and with nothing but the backend of the locks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "replicator/config/config.h"

namespace lockstep {

class LockModeOption {
 public:
  /// Adds -c, --config; without it $LOCKSTEP_CONFIG, then /etc/lockstep/lockstep.toml.
  void add_to(CLI::App& app) {
    app.add_option("-c,--config", file_,
                   "A configuration file; of it [locks], [elasticsearch] or [source], and [tree] are used")
        ->envname("LOCKSTEP_CONFIG")
        ->type_name("FILE")
        ->capture_default_str();
  }

  /// Throws UsageError when the configuration is wrong.
  Config load() const;

 private:
  std::string file_ = "/etc/lockstep/lockstep.toml";
};

}  // namespace lockstep
