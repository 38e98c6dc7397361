// -c for the commands that work on a pipeline.
#pragma once

#include <string>

#include "replicator/cli/options/config_file_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/config/config.h"

namespace lockstep {

class PipelineOption {
 public:
  /// Adds -c, --config.
  void add_to(Options options);

  /// Adds --as, --as-file and --as-env: a url that replaces source.url, for steps that only the owner of the
  /// tables may take.
  void add_owner_to(Options options);

  /// Loads the configuration. Throws UsageError if it is wrong, has no index, or has a source that this build
  /// does not replicate from.
  Config load();

  /// The user in source.url; empty if there is none. REQUIRES: load() was called.
  const std::string& configured_user() const { return configured_user_; }

 private:
  /// Empty: none was given. Warns of a password on the command line. Throws UsageError.
  std::string owner_url() const;

  ConfigFileOption file_;
  std::string owner_url_;
  std::string owner_file_;
  std::string owner_variable_;
  std::string configured_user_;
};

}  // namespace lockstep
