#include "replicator/cli/options/handed_down.h"

#include <cstdlib>
#include <sstream>

namespace lockstep {
namespace {

constexpr const char* kVariable = "LOCKSTEP_LOCK";

std::string handed_down() {
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

std::vector<std::string> handed_down_locks(LockManager& locks) {
  std::vector<std::string> operations;
  std::istringstream words(handed_down());
  for (std::string word; words >> word;) {
    const std::string id = word.substr(0, word.rfind('='));
    if (!id.empty() && holds_its_locks(locks, id, word)) operations.push_back(id);
  }
  return operations;
}

std::string handed_down_by(const Operation& operation) {
  const std::string above = handed_down();
  return std::string(kVariable) + "=" + (above.empty() ? "" : above + " ") + text_of(operation);
}

}  // namespace lockstep
