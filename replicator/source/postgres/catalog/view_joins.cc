#include "replicator/source/postgres/catalog/view_joins.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/catalog/query_tree.h"

namespace lockstep {
namespace {

// A column of one range table entry.
struct Column {
  const PostgresNode* entry = nullptr;
  long number = 0;

  bool operator<(const Column& other) const {
    return std::pair(entry, number) < std::pair(other.entry, other.number);
  }
};

using Equals = std::map<Column, std::set<Column>>;

using Entries = std::map<unsigned, int>;  // by relation

Entries sum(Entries some, const Entries& others) {
  for (const auto& [relation, times] : others) some[relation] += times;
  return some;
}

// Collects the equalities of a query, in each of its subqueries.
class EqualityWalker {
 public:
  explicit EqualityWalker(PostgresTransaction& transaction) : transaction_(transaction) {}

  Equals walk_all(const PostgresNode& node) {
    walk(node);
    return std::move(equals_);
  }

  // REQUIRES for all of them: walk_all() was called.
  Entries entries() const { return sum(base_, all_branches_); }
  Entries together() const { return sum(base_, largest_branch_); }
  bool recursive() const { return recursive_; }

 private:
  void walk(const PostgresNode& node) {
    for (const PostgresNode& item : node.items) walk(item);
    if (node.kind != PostgresNode::Kind::kRecord) return;
    add_equality(node);
    if (const unsigned relation = node.is("RANGETBLENTRY") ? relation_of(node) : 0; relation != 0)
      ++(branch_ ? *branch_ : base_)[relation];
    recursive_ = recursive_ || is_true(node, "cterecursive");
    const bool opens_branch = in_outer_columns_ && !branch_ && node.is("SUBLINK");
    if (opens_branch) branch_.emplace();
    const bool opens_scope = node.is("QUERY");
    if (opens_scope) queries_.push_back(&node);
    for (const auto& [name, value] : node.fields) {
      const bool outer_columns = opens_scope && queries_.size() == 1 && name == "targetList";
      if (outer_columns) in_outer_columns_ = true;
      walk(value);
      if (outer_columns) in_outer_columns_ = false;
    }
    if (opens_scope) queries_.pop_back();
    if (opens_branch) end_branch();
  }

  void end_branch() {
    for (const auto& [relation, times] : *branch_) {
      all_branches_[relation] += times;
      largest_branch_[relation] = std::max(largest_branch_[relation], times);
    }
    branch_.reset();
  }

  void add_equality(const PostgresNode& node) {
    const std::optional<Sides> sides = sides_of(node);
    if (!sides) return;
    const std::optional<Column> left = column_of(sides->first);
    const std::optional<Column> right = column_of(sides->second);
    if (!left || !right || left->entry == right->entry || !equal_sides(transaction_, node)) return;
    equals_[*left].insert(*right);
    equals_[*right].insert(*left);
  }

  std::optional<Column> column_of(const PostgresNode& expression) const {
    const PostgresNode& node = without_label(expression);
    const auto up = static_cast<std::size_t>(node.number("varlevelsup", 0));
    if (!node.is("VAR") || node.number("varattno", 0) <= 0 || up >= queries_.size()) return std::nullopt;
    const PostgresNode* const entry = entry_of(*queries_[queries_.size() - 1 - up], node.number("varno", 0));
    if (entry == nullptr || entry->number("rtekind", -1) == kJoin) return std::nullopt;
    return Column{entry, node.number("varattno", 0)};
  }

  PostgresTransaction& transaction_;
  std::vector<const PostgresNode*> queries_;  // the current one, last, and those around it
  Equals equals_;
  // How often each relation is named: outside of the subqueries that give the view's columns, and inside.
  Entries base_, all_branches_, largest_branch_;
  std::optional<Entries> branch_;  // the one that is being walked
  bool in_outer_columns_ = false;
  bool recursive_ = false;
};

}  // namespace

ViewJoins read_joins(PostgresTransaction& transaction, unsigned view) {
  ViewJoins joins;
  try {
    const PostgresNode tree = tree_of_view(transaction, view);
    EqualityWalker walker(transaction);
    for (const auto& [column, others] : walker.walk_all(tree)) {
      for (const Column& other : others) {
        const unsigned relation = relation_of(*column.entry), another = relation_of(*other.entry);
        if (other < column || relation == 0 || another == 0) continue;
        joins.equal.push_back(
            {{relation, static_cast<int>(column.number)}, {another, static_cast<int>(other.number)}});
      }
    }
    joins.entries = walker.entries();
    joins.together = walker.together();
    joins.recursive = walker.recursive();
  } catch (const NodeTreeError& error) {
    throw Error({.doing = "reading the joins of the view", .cause = error.what()});
  }
  // A rule names its own view, as OLD and NEW.
  joins.entries.erase(view);
  joins.together.erase(view);
  return joins;
}

}  // namespace lockstep
