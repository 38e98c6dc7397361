#include "replicator/tree/tree_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "replicator/tree/tree_change.h"
#include "replicator/tree/tree_error.h"
#include "replicator/tree/tree_query.h"

namespace lockstep {
namespace {

using nlohmann::json;

/// So many documents are read before the commit, and then written without another search.
constexpr std::size_t kMaxKnown = 1'000;
/// Documents in a page when they are only looked at.
constexpr std::size_t kPageOfMany = 5'000;
/// Each needs up to two locks, and the journal entry names them all.
constexpr std::size_t kMaxDocumentLocks = 5'000;

std::vector<std::string> document_lock_names(const TreeIntent& intent, const TreePlan& plan) {
  std::vector<std::string> names = {intent.path.text()};
  if (intent.to) names.push_back(intent.to->text());
  for (const TreeDocument& document : plan.known) {
    names.push_back(document.id);
    if (intent.kind != TreeIntent::Kind::kMove) continue;
    const TreePlace place = moved(document, intent.path, *intent.to);
    names.push_back(joined_path(place.path, place.name));
  }
  return names;
}

/// Refuses a move that would take a document to a path too long to name.
void require_room(const TreeIntent& intent, const TreeDocument& document) {
  const TreePlace place = moved(document, intent.path, *intent.to);
  const std::size_t bytes = joined_path(place.path, place.name).size();
  if (bytes <= kMaxTreePathBytes) return;
  throw Error({doing_of(intent),
               "the path of the document " + document.id + " would have " + std::to_string(bytes) +
                   " bytes, and paths have at most " + std::to_string(kMaxTreePathBytes),
               "choose a shorter target, or first move the deepest files"});
}

/// The source is only read.
LockSet copy_locks(const TreePath& from, const TreePath& to) {
  LockSet locks = tree_locks({to.text()});
  for (LockRequest request : tree_locks({from.text()})) {
    request.mode = LockMode::kShared;
    locks.push_back(std::move(request));
  }
  return lock_set(std::move(locks));
}

}  // namespace

LockSet TreePlanner::locks_for(const TreeIntent& intent) {
  switch (locking_) {
    case TreeConfig::Locking::kGlobal:
      return global_lock();
    case TreeConfig::Locking::kDocument:
      documents_.refresh();
      return document_locks(document_lock_names(intent, plan(intent)));
    case TreeConfig::Locking::kTree:
      break;
  }
  if (intent.kind == TreeIntent::Kind::kCopy) return copy_locks(intent.path, *intent.to);
  return intent.to ? tree_locks({intent.path.text(), intent.to->text()}) : tree_locks({intent.path.text()});
}

bool TreePlanner::covers(const LockSet& locks, const TreeIntent& intent, const TreePlan& plan) const {
  if (locking_ != TreeConfig::Locking::kDocument) return true;
  const LockSet wanted = document_locks(document_lock_names(intent, plan));
  return std::includes(locks.begin(), locks.end(), wanted.begin(), wanted.end(),
                       [](const LockRequest& a, const LockRequest& b) { return a.name < b.name; });
}

TreePlan TreePlanner::plan(const TreeIntent& intent, const Reading& still_reading) {
  const std::string doing = doing_of(intent);
  switch (intent.kind) {
    case TreeIntent::Kind::kMove:
      return plan_move(intent, still_reading);
    case TreeIntent::Kind::kRemove:
      return plan_removal(intent, still_reading);
    case TreeIntent::Kind::kMakeDirectory:
      return plan_directory(doing, intent.path);
    case TreeIntent::Kind::kCopy:
      return plan_copy(doing, intent.path, *intent.to);
    case TreeIntent::Kind::kPut:
      break;
  }
  return plan_put(doing, intent.path);
}

TreePlan TreePlanner::plan_move(const TreeIntent& intent, const Reading& still_reading) {
  const std::string doing = doing_of(intent);
  const TreePath& to = *intent.to;
  const std::vector<TreePath> paths = {intent.path, to};
  std::vector<TreeNode> nodes = documents_.look_up(paths);
  if (!nodes[0].exists()) throw TreeError(TreeError::Kind::kNotFound, doing, intent.path);
  if (nodes[1].exists()) throw TreeError(TreeError::Kind::kExists, doing, to);
  if (const std::optional<TreePath> file = documents_.first_file(to.above()))
    throw TreeError(TreeError::Kind::kNotDirectory, doing, *file);
  return everything_at(intent, std::move(nodes[0]), still_reading);
}

TreePlan TreePlanner::plan_removal(const TreeIntent& intent, const Reading& still_reading) {
  TreeNode node = documents_.look_up({&intent.path, 1}).at(0);
  if (!node.exists()) throw TreeError(TreeError::Kind::kNotFound, doing_of(intent), intent.path);
  return everything_at(intent, std::move(node), still_reading);
}

TreePlan TreePlanner::plan_put(const std::string& doing, const TreePath& path) {
  TreeNode node = documents_.look_up({&path, 1}).at(0);
  if (node.is_directory()) throw TreeError(TreeError::Kind::kIsDirectory, doing, path);
  if (const std::optional<TreePath> file = documents_.first_file(path.above()))
    throw TreeError(TreeError::Kind::kNotDirectory, doing, *file);
  return {.known = std::move(node.documents), .total = 1};
}

TreePlan TreePlanner::plan_directory(const std::string& doing, const TreePath& path) {
  if (!documents_.look_up({&path, 1}).at(0).documents.empty())
    throw TreeError(TreeError::Kind::kExists, doing, path);
  if (const std::optional<TreePath> file = documents_.first_file(path.above()))
    throw TreeError(TreeError::Kind::kNotDirectory, doing, *file);
  return {.known = {}, .total = 1};
}

TreePlan TreePlanner::plan_copy(const std::string& doing, const TreePath& from, const TreePath& to) {
  const std::vector<TreePath> paths = {from, to};
  std::vector<TreeNode> nodes = documents_.look_up(paths);
  if (!nodes[0].exists()) throw TreeError(TreeError::Kind::kNotFound, doing, from);
  if (nodes[0].is_directory()) throw TreeError(TreeError::Kind::kIsDirectory, doing, from);
  if (nodes[1].exists()) throw TreeError(TreeError::Kind::kExists, doing, to);
  if (const std::optional<TreePath> file = documents_.first_file(to.above()))
    throw TreeError(TreeError::Kind::kNotDirectory, doing, *file);
  return {.known = std::move(nodes[0].documents), .total = 1};
}

TreePlan TreePlanner::everything_at(const TreeIntent& intent, TreeNode node, const Reading& still_reading) {
  const TreePath& path = intent.path;
  TreePlan plan{.total = node.size()};
  if (node.below == 0) {
    plan.known = std::move(node.documents);
    return plan;
  }
  const auto concerned = [&](const TreeDocument& document) {
    if (!document.is_at_or_below(path)) return false;
    if (intent.to) require_room(intent, document);
    return true;
  };
  const bool one_by_one = locking_ == TreeConfig::Locking::kDocument;
  const std::size_t most = one_by_one ? kMaxDocumentLocks : kMaxKnown;
  if (static_cast<std::size_t>(plan.total) <= most) {
    const json query = tree_query::at_or_below(path);
    const auto take = [&](std::span<const TreeDocument> found) {
      std::copy_if(found.begin(), found.end(), std::back_inserter(plan.known), concerned);
    };
    if (tree_query::is_exact(path)) {
      take(documents_.find(query, most));
    } else {
      documents_.scan(query, kMaxKnown, take);
    }
  } else if (one_by_one) {
    throw Error(
        {"locking " + path.text(),
         "more than " + std::to_string(kMaxDocumentLocks) + " documents would have to be locked one by one",
         "write locking = \"tree\" in [tree], in every configuration that changes this tree"});
  } else {
    // The server will change them. It passes over unchangeable ones, so those are refused here.
    plan.total = 0;
    documents_.scan(tree_query::at_or_below(path), kPageOfMany, [&](std::span<const TreeDocument> page) {
      plan.total += std::count_if(page.begin(), page.end(), concerned);
      still_reading();
    });
  }
  return plan;
}

}  // namespace lockstep
