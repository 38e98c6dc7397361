// The combinations of keys: which keys exclude or need each other, and the values that follow from them (the
// content of the mapping file, the password in a url).
#pragma once

#include "replicator/config/config.h"
#include "replicator/config/config_reader.h"
#include "replicator/config/faults.h"

namespace lockstep {

/// The purpose of a configuration.
enum class ConfigUse {
  kAny,       ///< a pipeline or lock mode: needs an index, [locks] or [tree]
  kLockMode,  ///< locks only: needs nothing, or [source] if the locks are kept there
};

/// Completes a configuration whose keys are valid alone, and adds the faults of their combinations to
/// `faults`.
void complete_config(Config& config, const KeyLines& lines, ConfigUse use, Faults& faults);

}  // namespace lockstep
