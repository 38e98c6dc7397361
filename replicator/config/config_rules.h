// What the keys of a configuration say together: what excludes what, what needs what, and what follows from
// it (the mapping's content, a password taken out of the url).
#pragma once

#include "replicator/config/config.h"
#include "replicator/config/config_reader.h"
#include "replicator/config/faults.h"

namespace lockstep {

/// What a configuration is read for.
enum class ConfigUse {
  kAny,       ///< a pipeline, or lock mode: there has to be an index, [locks] or [tree]
  kLockMode,  ///< locks alone: [elasticsearch], or [source] where they are kept there, is enough
};

/// Completes a configuration in which each key is valid for itself, and notes the faults of its combinations.
void complete_config(Config& config, const KeyLines& lines, ConfigUse use, Faults& faults);

}  // namespace lockstep
