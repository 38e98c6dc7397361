// -c, which every verb that works on a pipeline takes, and what it leads to.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "replicator/config/config.h"

namespace lockstep {

class PipelineOption {
 public:
  /// Adds -c, --config; without it $LOCKSTEP_CONFIG, then /etc/lockstep/lockstep.toml.
  void add_to(CLI::App& app);

  /// Adds --as: a url to connect to the source with instead of source.url, for what only the owner may do.
  void add_owner_to(CLI::App& app);

  /// The configuration. Throws UsageError when it is wrong, or not one of a pipeline that this build
  /// replicates.
  Config load();

  /// The user that source.url names; empty when it names none. REQUIRES: load() was called.
  const std::string& configured_user() const { return configured_user_; }

 private:
  std::string file_ = "/etc/lockstep/lockstep.toml";
  std::string owner_url_;
  std::string configured_user_;
};

}  // namespace lockstep
