#include "replicator/source/postgres/catalog/row_partitions.h"

namespace lockstep {
namespace {

using Expressions = std::vector<const PostgresNode*>;

bool is_true(const PostgresNode& node, std::string_view field) {
  const PostgresNode* const value = node.field(field);
  return value != nullptr && value->text == "true";
}

// "limit all" and "limit null" keep every row.
bool limits(const PostgresNode* count) {
  return count != nullptr && !(count->is("CONST") && is_true(*count, "constisnull"));
}

// What a list of SORTGROUPCLAUSE names.
void add_named(const PostgresNode& query, const std::vector<PostgresNode>& clauses,
               Expressions& expressions) {
  for (const PostgresNode& clause : clauses) {
    for (const PostgresNode& target : query.list("targetList")) {
      const bool is_named = target.number("ressortgroupref", 0) == clause.number("tleSortGroupRef", -1);
      if (is_named && target.field("expr") != nullptr) expressions.push_back(target.field("expr"));
    }
  }
}

void add_calls(const PostgresNode& node, long window, Expressions& calls) {
  if (node.is("QUERY")) return;
  if (node.is("WINDOWFUNC") && node.number("winref", 0) == window) calls.push_back(&node);
  for (const PostgresNode& item : node.items) add_calls(item, window, calls);
  for (const auto& [name, value] : node.fields) add_calls(value, window, calls);
}

}  // namespace

std::vector<RowPartition> partitions_of(const PostgresNode& query) {
  std::vector<RowPartition> partitions;
  for (const PostgresNode& window : query.list("windowClause")) {
    RowPartition partition{"a window function", {}, {}};
    for (const PostgresNode& target : query.list("targetList"))
      add_calls(target, window.number("winref", 0), partition.values);
    if (partition.values.empty()) continue;  // the window is not used
    add_named(query, window.list("partitionClause"), partition.by);
    add_named(query, window.list("orderClause"), partition.values);
    partitions.push_back(std::move(partition));
  }
  if (is_true(query, "hasDistinctOn")) {
    RowPartition partition{"distinct on", {}, {}};
    add_named(query, query.list("distinctClause"), partition.by);
    add_named(query, query.list("sortClause"), partition.values);
    partitions.push_back(std::move(partition));
  }
  if (limits(query.field("limitCount")) || limits(query.field("limitOffset"))) {
    partitions.push_back({"limit or offset", {}, {}});
    add_named(query, query.list("sortClause"), partitions.back().values);
  }
  if (!query.list("groupingSets").empty()) {
    partitions.push_back({"several grouping sets", {}, {}});
    for (const PostgresNode& target : query.list("targetList")) {
      if (target.field("expr") != nullptr) partitions.back().values.push_back(target.field("expr"));
    }
  }
  return partitions;
}

}  // namespace lockstep
