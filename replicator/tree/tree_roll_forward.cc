#include "replicator/tree/tree_roll_forward.h"

#include "replicator/tree/server_task.h"
#include "replicator/tree/tree_index.h"
#include "replicator/tree/tree_lease.h"
#include "replicator/tree/tree_writes.h"

namespace lockstep {
namespace {

/// For so long the adopter of a dead process's work tries a step that the server cannot do: less than the 15
/// s within which the cause has to be reported. The next one tries again once the lease is over.
constexpr std::chrono::seconds kPatience{10};

}  // namespace

bool TreeRollForward::knows(const Operation& operation) const {
  if (operation.intent.target != documents_.index()) return false;
  (void)tree_intent(operation);  // throws for an unreadable operation: before it is adopted
  require_writable_tree(client_, documents_.index());
  return true;
}

void TreeRollForward::roll_forward(LockManager& locks, Operation& operation) {
  const TreeScope scope(operation, tree_intent(operation));
  const std::string task = operation.task;
  TreeLease lease(locks, operation, SystemClock().now(), {}, {.limit = kPatience});
  if (!task.empty()) lease.persist([&] { ServerTask(client_, task).cancel(); });
  TreeWrites writes(client_, documents_, painless_, lease, scope, [](std::int64_t) {});
  if (scope.intent.creates()) {
    writes.put(std::nullopt);
  } else {
    writes.change({});
  }
}

}  // namespace lockstep
