#include "replicator/source/postgres/catalog/view_joins.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

// A column of one range table entry.
struct Column {
  const PostgresNode* entry = nullptr;
  long number = 0;

  unsigned relation() const {
    return entry->number("rtekind", -1) == kRelation ? static_cast<unsigned>(entry->number("relid", 0)) : 0;
  }
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

// Collects what a query says is equal, in each of its subqueries.
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
    if (node.is("OPEXPR")) add_equality(node);
    if (node.is("RANGETBLENTRY") && node.number("rtekind", -1) == kRelation)
      ++(branch_ ? *branch_ : base_)[static_cast<unsigned>(node.number("relid", 0))];
    if (const PostgresNode* recursive = node.field("cterecursive"); recursive != nullptr)
      recursive_ = recursive_ || recursive->text == "true";
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
    const std::vector<PostgresNode>& sides = node.list("args");
    if (sides.size() != 2) return;
    const std::optional<Column> left = column_of(sides[0]);
    const std::optional<Column> right = column_of(sides[1]);
    if (!left || !right || left->entry == right->entry || !is_equality(node.number("opno", 0))) return;
    equals_[*left].insert(*right);
    equals_[*right].insert(*left);
  }

  std::optional<Column> column_of(const PostgresNode& expression) const {
    const PostgresNode* node = &expression;
    while (node->is("RELABELTYPE") && node->field("arg") != nullptr) node = node->field("arg");
    if (!node->is("VAR") || node->number("varattno", 0) <= 0) return std::nullopt;
    const auto up = static_cast<std::size_t>(node->number("varlevelsup", 0));
    const auto number = static_cast<std::size_t>(node->number("varno", 0));
    if (up >= queries_.size()) return std::nullopt;
    const std::vector<PostgresNode>& entries = queries_[queries_.size() - 1 - up]->list("rtable");
    if (number == 0 || number > entries.size()) return std::nullopt;
    const PostgresNode& entry = entries[number - 1];
    if (entry.number("rtekind", -1) == kJoin) return std::nullopt;
    return Column{&entry, node->number("varattno", 0)};
  }

  bool is_equality(long operator_oid) {
    return transaction_.run(postgres_sql("is_equality"), operator_oid)[0][0].as<bool>();
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
  const pqxx::row rule = only_row(transaction.run(postgres_sql("view_rule"), view));
  ViewJoins joins;
  try {
    const PostgresNode tree = parse_node_tree(rule[1].c_str());
    EqualityWalker walker(transaction);
    for (const auto& [column, others] : walker.walk_all(tree)) {
      for (const Column& other : others) {
        if (other < column || column.relation() == 0 || other.relation() == 0) continue;
        joins.equal.push_back({{column.relation(), static_cast<int>(column.number)},
                               {other.relation(), static_cast<int>(other.number)}});
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
