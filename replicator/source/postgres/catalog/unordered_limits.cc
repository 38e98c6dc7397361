#include "replicator/source/postgres/catalog/unordered_limits.h"

#include <string_view>
#include <utility>

#include "replicator/source/postgres/catalog/row_partitions.h"

namespace lockstep {
namespace {

constexpr long kExistsSublink = 0;  // SubLinkType of primnodes.h
constexpr long kJoinInner = 0, kJoinLeft = 1;

bool has_flag(const PostgresNode& query, std::string_view field) {
  const PostgresNode* const value = query.field(field);
  return value != nullptr && value->text == "true";
}

bool takes_any(const PostgresNode& query) {
  // An order by what is distinct leaves open which of the equal rows is taken.
  if (has_flag(query, "hasDistinctOn"))
    return query.list("sortClause").size() <= query.list("distinctClause").size();
  const bool is_one_row = has_flag(query, "hasAggs") && query.list("groupClause").empty();
  return has_limit(query) && query.list("sortClause").empty() && !is_one_row;
}

// Casts that keep the value, as from varchar to text.
const PostgresNode& without_label(const PostgresNode& node) {
  const PostgresNode* const argument = node.is("RELABELTYPE") ? node.field("arg") : nullptr;
  return argument == nullptr ? node : without_label(*argument);
}

bool is_own_column(const PostgresNode& node) {
  return node.is("VAR") && node.number("varlevelsup", 0) == 0 && node.number("varattno", 0) > 0;
}

// Numbers of the tables of the query whose rows give the value; -1: nobody can tell.
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
      if (kind == kJoinInner || kind == kJoinLeft) add_condition(node.field("quals"));
    }
  }

  void add_table(long number) {
    const std::vector<PostgresNode>& entries = query_.list("rtable");
    if (number <= 0 || static_cast<std::size_t>(number) > entries.size()) return;
    const PostgresNode& entry = entries[static_cast<std::size_t>(number - 1)];
    const bool is_table = entry.number("rtekind", -1) == kRelation;
    limit_.tables.push_back({number, is_table ? static_cast<unsigned>(entry.number("relid", 0)) : 0, {}});
  }

  void add_condition(const PostgresNode* condition) {
    if (condition == nullptr) return;
    const PostgresNode* const operation = condition->field("boolop");
    if (condition->is("BOOLEXPR") && operation != nullptr && operation->text == "and") {
      for (const PostgresNode& part : condition->list("args")) add_condition(&part);
    } else if (condition->is("OPEXPR") && condition->list("args").size() == 2) {
      const PostgresNode& left = without_label(condition->list("args")[0]);
      const PostgresNode& right = without_label(condition->list("args")[1]);
      add_comparison(left, right, condition->number("opno", 0));
      add_comparison(right, left, condition->number("opno", 0));
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
  const bool asks = node.is("SUBLINK") && node.number("subLinkType", -1) == kExistsSublink;
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
