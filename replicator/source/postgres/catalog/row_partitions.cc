#include "replicator/source/postgres/catalog/row_partitions.h"

#include <algorithm>

#include "replicator/source/postgres/catalog/query_tree.h"

namespace lockstep {
namespace {

using Expressions = std::vector<const PostgresNode*>;

// "limit all" and "limit null" keep every row.
bool limits(const PostgresNode* count) {
  return count != nullptr && !(count->is("CONST") && is_true(*count, "constisnull"));
}

// The expressions that a list of SORTGROUPCLAUSE names.
Expressions named(const PostgresNode& query, const std::vector<PostgresNode>& clauses) {
  Expressions expressions;
  for (const PostgresNode& clause : clauses) {
    for (const PostgresNode& target : query.list("targetList")) {
      const bool is_named = target.number("ressortgroupref", 0) == clause.number("tleSortGroupRef", -1);
      if (is_named && target.field("expr") != nullptr) expressions.push_back(target.field("expr"));
    }
  }
  return expressions;
}

// Whether it has a record for which `is_wanted` holds. `depth` is the number of queries between.
template <typename IsWanted>
bool has(const PostgresNode& node, long depth, const IsWanted& is_wanted) {
  if (is_wanted(node, depth)) return true;
  if (node.is("QUERY")) ++depth;
  return std::any_of(node.items.begin(), node.items.end(),
                     [&](const PostgresNode& item) { return has(item, depth, is_wanted); }) ||
         std::any_of(node.fields.begin(), node.fields.end(),
                     [&](const PostgresNodeField& field) { return has(field.value, depth, is_wanted); });
}

bool calls_window(const PostgresNode& node) {
  return has(node, 0,
             [](const PostgresNode& some, long depth) { return depth == 0 && some.is("WINDOWFUNC"); });
}

bool calls_window(const PostgresNode& query, long window) {
  return std::any_of(query.list("targetList").begin(), query.list("targetList").end(),
                     [&](const PostgresNode& target) {
                       return has(target, 0, [&](const PostgresNode& node, long depth) {
                         return depth == 0 && node.is("WINDOWFUNC") && node.number("winref", 0) == window;
                       });
                     });
}

}  // namespace

std::vector<RowPartition> partitions_of(const PostgresNode& query) {
  std::vector<RowPartition> partitions;
  for (const PostgresNode& window : query.list("windowClause")) {
    if (calls_window(query, window.number("winref", 0)))
      partitions.push_back({"a window function", named(query, window.list("partitionClause"))});
  }
  if (is_true(query, "hasDistinctOn")) {
    // It picks by the windows' results: one that changes may be picked in any partition.
    for (RowPartition& window : partitions) window.by.clear();
    const bool has_windows = !partitions.empty();
    partitions.push_back(
        {"distinct on", has_windows ? Expressions() : named(query, query.list("distinctClause"))});
  }
  if (has_limit(query)) partitions.push_back({"limit or offset", {}});
  if (!query.list("groupingSets").empty()) partitions.push_back({"several grouping sets", {}});
  return partitions;
}

bool has_limit(const PostgresNode& query) {
  return limits(query.field("limitCount")) || limits(query.field("limitOffset"));
}

bool decides(const PostgresNode& query, const PostgresNode& target) {
  return target.number("ressortgroupref", 0) > 0 || is_true(query, "hasTargetSRFs") ||
         !query.list("groupingSets").empty() || calls_window(target);
}

bool passes_rows(const PostgresNode& query) {
  return query.field("setOperations") == nullptr && partitions_of(query).empty();
}

bool is_correlated(const PostgresNode& query) {
  const auto is_outside = [](const PostgresNode& node, long depth) {
    return (node.is("VAR") && node.number("varlevelsup", 0) > depth) ||
           (node.is("PARAM") && node.number("paramkind", -1) == kOfFunction);
  };
  const auto names_outside = [&](const char* part) {
    return query.field(part) != nullptr && has(*query.field(part), 0, is_outside);
  };
  return names_outside("jointree") || names_outside("havingQual") || names_outside("rtable") ||
         names_outside("cteList");
}

}  // namespace lockstep
