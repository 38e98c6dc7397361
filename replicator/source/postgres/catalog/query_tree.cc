#include "replicator/source/postgres/catalog/query_tree.h"

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr long kTextType = 25, kVarcharType = 1043;

void add_conjuncts(const PostgresNode& condition, std::vector<const PostgresNode*>& all) {
  const PostgresNode* const operation = condition.field("boolop");
  if (!condition.is("BOOLEXPR") || operation == nullptr || operation->text != "and")
    return all.push_back(&condition);
  for (const PostgresNode& part : condition.list("args")) add_conjuncts(part, all);
}

}  // namespace

bool gives_text(const PostgresNode& cast) {
  const long type = cast.number("resulttype", 0);
  return type == kTextType || type == kVarcharType;
}

bool is_true(const PostgresNode& node, std::string_view field) {
  const PostgresNode* const value = node.field(field);
  return value != nullptr && value->text == "true";
}

const PostgresNode* entry_of(const PostgresNode& query, long number) {
  const std::vector<PostgresNode>& entries = query.list("rtable");
  const bool is_there = number > 0 && static_cast<std::size_t>(number) <= entries.size();
  return is_there ? &entries[static_cast<std::size_t>(number - 1)] : nullptr;
}

unsigned relation_of(const PostgresNode& entry) {
  return entry.number("rtekind", -1) == kRelation ? static_cast<unsigned>(entry.number("relid", 0)) : 0;
}

bool has_behind(const PostgresNode& entry) {
  const long kind = entry.number("rtekind", -1);
  return kind == kJoin || kind == kGroup;
}

const PostgresNode* behind(const PostgresNode& entry, long column) {
  if (!has_behind(entry)) return nullptr;
  const std::vector<PostgresNode>& all =
      entry.list(entry.number("rtekind", -1) == kJoin ? "joinaliasvars" : "groupexprs");
  const bool is_there = column > 0 && static_cast<std::size_t>(column) <= all.size();
  return is_there ? &all[static_cast<std::size_t>(column - 1)] : nullptr;
}

const PostgresNode& without_label(const PostgresNode& node) {
  const PostgresNode* const argument = node.is("RELABELTYPE") ? node.field("arg") : nullptr;
  return argument == nullptr ? node : without_label(*argument);
}

bool is_own_column(const PostgresNode& node) {
  return node.is("VAR") && node.number("varlevelsup", 0) == 0 && node.number("varattno", 0) > 0;
}

std::vector<const PostgresNode*> conjuncts(const PostgresNode& condition) {
  std::vector<const PostgresNode*> all;
  add_conjuncts(condition, all);
  return all;
}

std::optional<Sides> sides_of(const PostgresNode& node) {
  const std::vector<PostgresNode>& sides = node.list("args");
  if (!node.is("OPEXPR") || sides.size() != 2) return std::nullopt;
  return Sides{sides[0], sides[1]};
}

std::optional<Sides> equal_sides(PostgresTransaction& transaction, const PostgresNode& node) {
  const std::optional<Sides> sides = sides_of(node);
  const bool is_equality =
      sides && transaction.look_up(postgres_sql("is_equality"), node.number("opno", 0))[0][0].as<bool>();
  return is_equality ? sides : std::nullopt;
}

const PostgresNode* with_query(const PostgresNode& query, std::string_view name) {
  for (const PostgresNode& each : query.list("cteList")) {
    const PostgresNode* const own = each.field("ctename");
    if (own != nullptr && own->text == name) return &each;
  }
  return nullptr;
}

PostgresNode tree_of_view(PostgresTransaction& transaction, unsigned view) {
  return parse_node_tree(only_row(transaction.look_up(postgres_sql("view_rule"), view))[1].c_str());
}

}  // namespace lockstep
