#include "replicator/source/postgres/catalog/unordered_lists.h"

#include <vector>

#include "replicator/source/postgres/catalog/query_tree.h"

namespace lockstep {
namespace {

class ListSearch {
 public:
  UnorderedLists in(const PostgresNode& tree) {
    walk(tree);
    return found_;
  }

 private:
  void walk(const PostgresNode& node) {
    for (const PostgresNode& item : node.items) walk(item);
    if (node.kind != PostgresNode::Kind::kRecord) return;
    if (node.is("AGGREF")) add(node);
    if (node.is("WINDOWFUNC")) add_window(node);
    if (node.is("SUBLINK") && node.number("subLinkType", -1) == kArray) {
      const PostgresNode* const query = node.field("subselect");
      if (query != nullptr && !is_ordered(*query)) found_.array_of_query = true;
    }
    const bool opens_scope = node.is("QUERY");
    if (opens_scope) queries_.push_back(&node);
    for (const auto& [name, value] : node.fields) walk(value);
    if (opens_scope) queries_.pop_back();
  }

  // `distinct` sorts.
  void add(const PostgresNode& aggregate) {
    if (!aggregate.list("aggorder").empty() || !aggregate.list("aggdistinct").empty()) return;
    if (!queries_.empty() && reads_in_order(*queries_.back())) return;
    found_.functions.insert(static_cast<unsigned>(aggregate.number("aggfnoid", 0)));
  }

  void add_window(const PostgresNode& call) {
    if (queries_.empty() || reads_in_order(*queries_.back())) return;
    for (const PostgresNode& window : queries_.back()->list("windowClause")) {
      if (window.number("winref", 0) == call.number("winref", -1) && window.list("orderClause").empty())
        found_.functions.insert(static_cast<unsigned>(call.number("winfnoid", 0)));
    }
  }

  static bool is_ordered(const PostgresNode& query) {
    return !query.list("sortClause").empty() || reads_in_order(query);
  }

  // Its only source is a subquery with an order.
  static bool reads_in_order(const PostgresNode& query) {
    const PostgresNode* const from = query.field("jointree");
    if (from == nullptr || from->list("fromlist").size() != 1) return false;
    const PostgresNode& source = from->list("fromlist").front();
    const PostgresNode* const entry = entry_of(query, source.number("rtindex", 0));
    const PostgresNode* const subquery = entry == nullptr ? nullptr : entry->field("subquery");
    return subquery != nullptr && !subquery->list("sortClause").empty();
  }

  std::vector<const PostgresNode*> queries_;  // the current one, last, and those around it
  UnorderedLists found_;
};

}  // namespace

UnorderedLists unordered_lists_in(const PostgresNode& tree) {
  return ListSearch().in(tree);
}

}  // namespace lockstep
