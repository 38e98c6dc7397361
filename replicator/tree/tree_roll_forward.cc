#include "replicator/tree/tree_roll_forward.h"

#include "replicator/tree/server_task.h"
#include "replicator/tree/tree_lease.h"
#include "replicator/tree/tree_writes.h"

namespace lockstep {

bool TreeRollForward::knows(const Operation& operation) const {
  if (operation.intent.target != documents_.index()) return false;
  (void)tree_intent(operation);  // throws for what it cannot read: before anybody adopts the operation
  return true;
}

void TreeRollForward::roll_forward(LockManager& locks, Operation& operation) {
  const TreeScope scope(operation, tree_intent(operation));
  const std::string task = operation.task;
  TreeLease lease(locks, operation, SystemClock().now(), {});
  if (!task.empty()) lease.persist([&] { ServerTask(client_, task).cancel(); });
  TreeWrites writes(client_, documents_, painless_, lease, scope, [](std::int64_t) {});
  if (scope.intent.creates()) {
    writes.put(std::nullopt);
  } else {
    writes.change({});
  }
}

}  // namespace lockstep
