#include "replicator/locks/stored_value.h"

#include <utility>

namespace lockstep {

OperationState stored_state(const std::string& id, std::string_view text) {
  if (const std::optional<OperationState> state = operation_state(text)) return *state;
  throw unknown_value("the operation " + id, "state", text);
}

LockMode stored_mode(const std::string& name, std::string_view text) {
  if (const std::optional<LockMode> mode = lock_mode(text)) return *mode;
  throw unknown_value("the lock " + name, "type", text);
}

std::string stored_kind(const std::string& id, std::string text) {
  if (text.empty()) throw unknown_value("the operation " + id, "kind", text);
  return text;
}

}  // namespace lockstep
