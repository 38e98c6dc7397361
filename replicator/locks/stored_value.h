// Reads words that the journal and the locks store. A word that this Lockstep does not know is an error that
// names it and its place, never a default: a newer Lockstep may give it another meaning.
#pragma once

#include <string>
#include <string_view>

#include "replicator/locks/lock_name.h"
#include "replicator/locks/operation.h"
#include "replicator/unknown_value.h"

namespace lockstep {

/// Of the journal entry of the operation `id`. Throws Error.
OperationState stored_state(const std::string& id, std::string_view text);

/// Of the lock `name`. Throws Error.
LockMode stored_mode(const std::string& name, std::string_view text);

/// The kind of the operation `id`: any word but an empty one. Throws Error.
std::string stored_kind(const std::string& id, std::string text);

}  // namespace lockstep
