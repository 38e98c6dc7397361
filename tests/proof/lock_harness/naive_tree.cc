#include "tests/proof/lock_harness/naive_tree.h"

#include <utility>

#include "replicator/locks/acquire.h"
#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/tree/tree_change.h"
#include "replicator/tree/tree_query.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostFiles = 5'000;

}  // namespace

NaiveTree::NaiveTree(LockManager& locks, std::unique_ptr<HttpTransport> transport, std::string index,
                     Without without)
    : locks_(locks),
      client_(std::move(transport)),
      documents_(client_, std::move(index)),
      without_(without) {}

void NaiveTree::move(const TreePath& from, const TreePath& to) {
  if (from == to || from.contains(to)) return;
  Operation operation =
      locks_.open({.kind = "mv", .from = from.text(), .to = to.text()}, tree_locks({from.text(), to.text()}));
  const bool taken = take(operation);
  documents_.refresh();
  if (!taken || !exists(from) || exists(to)) {
    locks_.finish(operation, OperationState::kAborted, "refused");
  } else {
    locks_.commit(operation);
    write(from, to);
    locks_.finish(operation, OperationState::kDone, "");
  }
  locks_.release(operation);
}

bool NaiveTree::take(Operation& operation) {
  if (without_ == Without::kLocks) return true;
  if (without_ == Without::kRecovery) return !locks_.try_acquire(operation, milliseconds(0));
  return !acquire(locks_, operation, declare_done_, {.limit = milliseconds(3'000)});
}

bool NaiveTree::exists(const TreePath& path) {
  return documents_.look_up({&path, 1}).at(0).exists();
}

void NaiveTree::write(const TreePath& from, const TreePath& to) {
  BulkCall bulk(documents_.index());
  for (const TreeDocument& document : documents_.find(tree_query::at_or_below(from), kMostFiles)) {
    const TreePlace place = moved(document, from, to);
    bulk.add("update", document.id, nlohmann::json::object(),
             {{"doc", {{"path", place.path}, {"name", place.name}}}});
  }
  (void)bulk.send(client_, "moving documents");
}

}  // namespace lockstep::harness
