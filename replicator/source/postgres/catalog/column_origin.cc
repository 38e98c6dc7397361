#include "replicator/source/postgres/catalog/column_origin.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/query_tree.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

struct Equality {
  const PostgresNode* left;   // VAR
  const PostgresNode* right;  // VAR
};

// The node without casts from one text type to another, which keep the text.
const PostgresNode* without_relabel(const PostgresNode* node) {
  while (node != nullptr && node->is("RELABELTYPE") && gives_text(*node)) node = node->field("arg");
  return node;
}

// The node without casts that keep its text, such as `id::text`.
const PostgresNode* without_text_casts(const PostgresNode* node) {
  while (node != nullptr && (node->is("RELABELTYPE") || node->is("COERCEVIAIO")) && gives_text(*node))
    node = node->field("arg");
  return node;
}

bool is_own_variable(const PostgresNode* node) {
  return node != nullptr && is_own_column(*node);
}

long entry_number(const PostgresNode& variable) {
  return variable.number("varno", 0);
}

// Looks for the origin, from a view down through the queries that it is made of.
class Search {
 public:
  explicit Search(PostgresTransaction& transaction) : transaction_(transaction) {}

  std::optional<CommonOrigin> in_view(unsigned view, long id, long column) {
    const PostgresNode tree = tree_of_view(transaction_, view);
    if (tree.items.size() != 1) return std::nullopt;
    std::vector<const PostgresNode*> outer;
    outer.swap(queries_);
    const std::optional<CommonOrigin> origin = in_query(tree.items.front(), id, column);
    outer.swap(queries_);
    return origin;
  }

 private:
  std::optional<CommonOrigin> in_query(const PostgresNode& query, long id, long column) {
    if (query.field("setOperations") != nullptr) return std::nullopt;
    queries_.push_back(&query);
    const std::optional<CommonOrigin> origin =
        of_expressions(query, target(query, id), target(query, column));
    queries_.pop_back();
    return origin;
  }

  static const PostgresNode* target(const PostgresNode& query, long number) {
    for (const PostgresNode& entry : query.list("targetList")) {
      if (entry.number("resno", 0) == number) return entry.field("expr");
    }
    return nullptr;
  }

  std::optional<CommonOrigin> of_expressions(const PostgresNode& query, const PostgresNode* id,
                                             const PostgresNode* column) {
    id = through_joins(query, without_text_casts(id));
    id = without_text_casts(id);
    column = without_relabel(through_joins(query, without_relabel(column)));
    if (!is_own_variable(id) || !is_own_variable(column)) return std::nullopt;
    if (entry_number(*id) != entry_number(*column)) {
      column = equal_in(query, *column, entry_number(*id));
      if (column == nullptr) return std::nullopt;
    }
    return in_entry(query, *id, *column);
  }

  // The expression behind a column of a join or of a grouping.
  static const PostgresNode* through_joins(const PostgresNode& query, const PostgresNode* node) {
    while (is_own_variable(node)) {
      const PostgresNode* const entry = entry_of(query, entry_number(*node));
      if (entry == nullptr) return nullptr;
      if (!has_behind(*entry)) return node;
      node = behind(*entry, node->number("varattno", 0));
    }
    return node;
  }

  std::optional<CommonOrigin> in_entry(const PostgresNode& query, const PostgresNode& id,
                                       const PostgresNode& column) {
    const PostgresNode* entry = entry_of(query, entry_number(id));
    if (entry == nullptr) return std::nullopt;
    const long id_number = id.number("varattno", 0);
    const long column_number = column.number("varattno", 0);
    switch (entry->number("rtekind", -1)) {
      case kRelation:
        return in_relation(relation_of(*entry), id_number, column_number);
      case kSubquery:
        return entry->field("subquery") == nullptr
                   ? std::nullopt
                   : in_query(*entry->field("subquery"), id_number, column_number);
      case kCte:
        return in_cte(*entry, id_number, column_number);
      default:
        return std::nullopt;
    }
  }

  std::optional<CommonOrigin> in_relation(unsigned relation, long id, long column) {
    const std::string kind =
        only_row(transaction_.run_once("select relkind::text from pg_class where oid = $1::oid", relation))[0]
            .c_str();
    if (kind == "v") return in_view(relation, id, column);
    if (kind != "r" && kind != "p") return std::nullopt;
    return CommonOrigin{relation, static_cast<int>(id), static_cast<int>(column)};
  }

  std::optional<CommonOrigin> in_cte(const PostgresNode& entry, long id, long column) {
    const auto up = static_cast<std::size_t>(entry.number("ctelevelsup", 0));
    const PostgresNode* wanted = entry.field("ctename");
    if (up >= queries_.size() || wanted == nullptr) return std::nullopt;
    const std::size_t level = queries_.size() - 1 - up;
    const PostgresNode* const cte = with_query(*queries_[level], wanted->text);
    const PostgresNode* const body = cte == nullptr ? nullptr : cte->field("ctequery");
    if (body == nullptr || !body->is("QUERY") || is_true(*cte, "cterecursive")) return std::nullopt;
    // Levels inside of the body count from the place of the CTE.
    const std::vector<const PostgresNode*> inner(queries_.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                                                 queries_.end());
    queries_.resize(level + 1);
    const std::optional<CommonOrigin> origin = in_query(*body, id, column);
    queries_.insert(queries_.end(), inner.begin(), inner.end());
    return origin;
  }

  // --- equalities of the joins ---

  // A variable of range table entry `number` that equals `variable` in every row that has both.
  const PostgresNode* equal_in(const PostgresNode& query, const PostgresNode& variable, long number) {
    std::vector<Equality> equalities;
    if (const PostgresNode* tree = query.field("jointree")) collect(query, *tree, equalities);
    const auto is_same = [&](const PostgresNode& other) {
      return entry_number(other) == entry_number(variable) &&
             other.number("varattno", 0) == variable.number("varattno", -1);
    };
    for (const auto& [left, right] : equalities) {
      if (is_same(*left) && entry_number(*right) == number) return right;
      if (is_same(*right) && entry_number(*left) == number) return left;
    }
    return nullptr;
  }

  // Returns the range table entries below `node`.
  std::set<long> collect(const PostgresNode& query, const PostgresNode& node,
                         std::vector<Equality>& equalities) {
    std::set<long> below;
    if (node.is("RANGETBLREF")) {
      below.insert(node.number("rtindex", 0));
    } else if (node.is("FROMEXPR")) {
      for (const PostgresNode& item : node.list("fromlist")) below.merge(collect(query, item, equalities));
      if (const PostgresNode* quals = node.field("quals")) add_equalities(query, *quals, equalities);
    } else if (node.is("JOINEXPR") && node.field("larg") != nullptr && node.field("rarg") != nullptr) {
      const std::set<long> left = collect(query, *node.field("larg"), equalities);
      const std::set<long> right = collect(query, *node.field("rarg"), equalities);
      if (const PostgresNode* quals = node.field("quals")) {
        std::vector<Equality> own;
        add_equalities(query, *quals, own);
        const bool is_inner = node.number("jointype", -1) == kInner;
        for (const Equality& equality : own) {
          // If one side of an outer join is missing, its condition proves nothing; so it must name both.
          const bool left_is_left = left.contains(entry_number(*equality.left));
          const bool right_is_left = left.contains(entry_number(*equality.right));
          if (is_inner || left_is_left != right_is_left) equalities.push_back(equality);
        }
      }
      below = left;
      below.insert(right.begin(), right.end());
    }
    return below;
  }

  void add_equalities(const PostgresNode& query, const PostgresNode& condition,
                      std::vector<Equality>& equalities) {
    for (const PostgresNode* const part : conjuncts(condition)) {
      const std::optional<Sides> sides = equal_sides(transaction_, *part);
      if (!sides) continue;
      const PostgresNode* left = without_relabel(through_joins(query, without_relabel(&sides->first)));
      const PostgresNode* right = without_relabel(through_joins(query, without_relabel(&sides->second)));
      if (is_own_variable(left) && is_own_variable(right)) equalities.push_back({left, right});
    }
  }

  PostgresTransaction& transaction_;
  std::vector<const PostgresNode*> queries_;  // the current one, last, and those around it
};

}  // namespace

std::optional<CommonOrigin> common_origin(PostgresTransaction& transaction, unsigned view, int id,
                                          int column) {
  try {
    return Search(transaction).in_view(view, id, column);
  } catch (const NodeTreeError&) {
    return std::nullopt;
  }
}

}  // namespace lockstep
