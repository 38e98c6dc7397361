#include "replicator/cli/options/inherited_locks.h"

#include <cstdlib>
#include <sstream>

namespace lockstep {
namespace {

constexpr const char* kVariable = "LOCKSTEP_LOCK";

std::string inherited() {
  const char* const text = std::getenv(kVariable);
  return text == nullptr ? "" : text;
}

std::string text_of(const Operation& operation) {
  return operation.id + "=" + std::to_string(operation.token);
}

bool holds_its_locks(LockManager& locks, const std::string& id, const std::string& text) {
  const std::optional<Operation> found = locks.find_operation(id);
  return found && found->state == OperationState::kRunning && !found->needs_roll_forward() &&
         text_of(*found) == text && found->lease_until >= locks.now();
}

}  // namespace

std::vector<std::string> inherited_locks(LockManager& locks) {
  std::vector<std::string> operations;
  std::istringstream words(inherited());
  for (std::string word; words >> word;) {
    const std::string id = word.substr(0, word.rfind('='));
    if (!id.empty() && holds_its_locks(locks, id, word)) operations.push_back(id);
  }
  return operations;
}

std::string inheritance_of(const Operation& operation) {
  const std::string above = inherited();
  return std::string(kVariable) + "=" + (above.empty() ? "" : above + " ") + text_of(operation);
}

}  // namespace lockstep
