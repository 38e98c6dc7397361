#include "replicator/source/postgres/catalog/unordered_limits.h"

#include <utility>

#include "replicator/source/postgres/catalog/query_tree.h"
#include "replicator/source/postgres/catalog/row_partitions.h"

namespace lockstep {
namespace {

bool takes_any(const PostgresNode& query) {
  // An order by distinct values leaves open which of the equal rows is taken.
  if (is_true(query, "hasDistinctOn"))
    return query.list("sortClause").size() <= query.list("distinctClause").size();
  const bool is_one_row = is_true(query, "hasAggs") && query.list("groupClause").empty();
  return has_limit(query) && query.list("sortClause").empty() && !is_one_row;
}

// Numbers of the tables of the query whose rows give the value; -1: unknown.
void add_others(const PostgresNode& node, std::set<long>& others) {
  if (node.is("VAR") && node.number("varlevelsup", 0) == 0) others.insert(node.number("varno", 0));
  if (node.is("SUBLINK")) others.insert(-1);
  for (const PostgresNode& item : node.items) add_others(item, others);
  for (const PostgresNodeField& field : node.fields) add_others(field.value, others);
}

class LimitOfQuery {
 public:
  explicit LimitOfQuery(const PostgresNode& query) : query_(query) {
    if (const PostgresNode* const from = query.field("jointree")) in_from(*from);
  }

  UnorderedLimit limit() { return std::move(limit_); }

 private:
  void in_from(const PostgresNode& node) {
    if (node.is("RANGETBLREF")) {
      add_table(node.number("rtindex", 0));
    } else if (node.is("FROMEXPR")) {
      for (const PostgresNode& item : node.list("fromlist")) in_from(item);
      add_condition(node.field("quals"));
    } else if (node.is("JOINEXPR") && node.field("larg") != nullptr && node.field("rarg") != nullptr) {
      in_from(*node.field("larg"));
      in_from(*node.field("rarg"));
      const long kind = node.number("jointype", -1);
      if (kind == kInner || kind == kLeft) add_condition(node.field("quals"));
    }
  }

  void add_table(long number) {
    if (const PostgresNode* const entry = entry_of(query_, number))
      limit_.tables.push_back({number, relation_of(*entry), {}});
  }

  void add_condition(const PostgresNode* condition) {
    if (condition == nullptr) return;
    for (const PostgresNode* const part : conjuncts(*condition)) {
      const std::optional<Sides> sides = sides_of(*part);
      if (!sides) continue;
      const PostgresNode& left = without_label(sides->first);
      const PostgresNode& right = without_label(sides->second);
      add_comparison(left, right, part->number("opno", 0));
      add_comparison(right, left, part->number("opno", 0));
    }
  }

  void add_comparison(const PostgresNode& column, const PostgresNode& value, long operator_oid) {
    if (!is_own_column(column)) return;
    UnorderedLimit::Comparison comparison{static_cast<int>(column.number("varattno", 0)), operator_oid, {}};
    add_others(value, comparison.others);
    for (UnorderedLimit::Table& table : limit_.tables) {
      if (table.number == column.number("varno", 0)) table.comparisons.push_back(comparison);
    }
  }

  const PostgresNode& query_;
  UnorderedLimit limit_;
};

void find_limits(const PostgresNode& node, bool is_only_asked_for, std::vector<UnorderedLimit>& found) {
  if (node.is("QUERY") && !is_only_asked_for && takes_any(node)) found.push_back(LimitOfQuery(node).limit());
  const bool asks = node.is("SUBLINK") && node.number("subLinkType", -1) == kExists;
  for (const PostgresNode& item : node.items) find_limits(item, false, found);
  for (const auto& [name, value] : node.fields) find_limits(value, asks && name == "subselect", found);
}

}  // namespace

std::vector<UnorderedLimit> unordered_limits_in(const PostgresNode& tree) {
  std::vector<UnorderedLimit> found;
  find_limits(tree, false, found);
  return found;
}

}  // namespace lockstep
