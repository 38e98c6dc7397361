#include "replicator/locks/stored_value.h"

#include <utility>

namespace lockstep {

Error unknown_value(const std::string& what, std::string_view field, std::string_view value) {
  const std::string cause = value.empty() ? "it has no " + std::string(field)
                                          : "its " + std::string(field) + " is \"" + std::string(value) +
                                                "\", which this lockstep does not know";
  return Error({"reading " + what, cause,
                "if a newer lockstep wrote it, use that version; else correct it or delete it"});
}

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
