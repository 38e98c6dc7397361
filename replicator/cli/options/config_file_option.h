// -c, --config: which configuration file a command reads.
#pragma once

#include <optional>
#include <string>

#include "replicator/cli/options/options.h"

namespace lockstep {

class ConfigFileOption {
 public:
  /// Adds -c, --config; without it $LOCKSTEP_CONFIG counts. `what` is the beginning of its description.
  Option add_to(Options options, const std::string& what);

  /// The file of -c or $LOCKSTEP_CONFIG, otherwise ./lockstep.toml if it can be read, otherwise
  /// /etc/lockstep/lockstep.toml. Prints on a terminal that it is the one in this folder. Throws UsageError
  /// if that one belongs to another user: it may name any server, and any file that this user can read as a
  /// secret.
  std::string file() const;

 private:
  std::optional<std::string> given_;
};

}  // namespace lockstep
