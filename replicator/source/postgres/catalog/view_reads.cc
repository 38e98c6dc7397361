#include "replicator/source/postgres/catalog/view_reads.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/query_tree.h"
#include "replicator/source/postgres/catalog/sql_text.h"
#include "replicator/source/postgres/catalog/unordered_limits.h"
#include "replicator/source/postgres/catalog/unordered_lists.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

// SQLValueFunctionOp of primnodes.h.
constexpr std::string_view kValueFunctions[] = {
    "current_date", "current_time", "current_time",   "current_timestamp", "current_timestamp",
    "localtime",    "localtime",    "localtimestamp", "localtimestamp",    "current_role",
    "current_user", "user",         "session_user",   "current_catalog",   "current_schema"};

// The references of one parsed query.
struct References {
  std::set<unsigned> relations;
  std::set<unsigned> whole_rows;   // relations whose row it takes as a whole
  bool unknown_whole_row = false;  // it takes a row as a whole, of an unknown relation
  std::set<unsigned> functions;
  std::set<unsigned> operators;
  std::set<std::string> environment;
};

class ReferenceWalker {
 public:
  References walk_all(const PostgresNode& node) {
    walk(node);
    return std::move(found_);
  }

 private:
  void walk(const PostgresNode& node) {
    for (const PostgresNode& item : node.items) walk(item);
    if (node.kind != PostgresNode::Kind::kRecord) return;
    if (node.is("VAR") && node.number("varattno", 0) == 0) add_whole_row(node);
    if (node.is("RANGETBLENTRY")) add_relation(node);
    if (node.is("SQLVALUEFUNCTION")) add_value_function(node);
    add_calls(node);
    const bool opens_scope = node.is("QUERY");
    if (opens_scope) queries_.push_back(&node);
    for (const auto& [name, value] : node.fields) walk(value);
    if (opens_scope) queries_.pop_back();
  }

  void add_relation(const PostgresNode& entry) {
    const long relation = entry.number("relid", 0);
    if (relation > 0) found_.relations.insert(static_cast<unsigned>(relation));
    if (entry.field("tablesample") != nullptr) found_.environment.insert("tablesample");
  }

  // The row of a subquery, a function or a CTE consists of the columns that its own query names. The row of a
  // relation or of a join holds columns that no query names.
  void add_whole_row(const PostgresNode& variable) {
    const auto up = static_cast<std::size_t>(variable.number("varlevelsup", 0));
    const PostgresNode* const entry =
        up < queries_.size() ? entry_of(*queries_[queries_.size() - 1 - up], variable.number("varno", 0))
                             : nullptr;
    switch (entry == nullptr ? kJoin : entry->number("rtekind", kJoin)) {
      case kRelation:
        found_.whole_rows.insert(relation_of(*entry));
        break;
      case kSubquery:
      case kFunction:
      case kTableFunction:
      case kValues:
      case kCte:
        break;
      default:
        found_.unknown_whole_row = true;
    }
  }

  void add_value_function(const PostgresNode& node) {
    const auto which = static_cast<std::size_t>(node.number("op", 0));
    found_.environment.emplace(which < std::size(kValueFunctions) ? kValueFunctions[which] : "current_…");
  }

  void add_calls(const PostgresNode& node) {
    for (const auto& [name, value] : node.fields) {
      if (name == "funcid" || name == "opfuncid" || name == "aggfnoid" || name == "winfnoid") {
        add(found_.functions, node.number(name, 0));
      } else if (name == "opno" || name == "eqop" || name == "sortop") {
        add(found_.operators, node.number(name, 0));
      } else if (name == "opnos") {
        // "(o 96 97)"
        for (const PostgresNode& item : value.items) {
          if (item.text != "o") add(found_.operators, std::stol(item.text));
        }
      }
    }
  }

  static void add(std::set<unsigned>& oids, long oid) {
    if (oid > 0) oids.insert(static_cast<unsigned>(oid));
  }

  std::vector<const PostgresNode*> queries_;
  References found_;
};

std::string array_of(const std::set<unsigned>& oids) {
  std::string text = "{";
  for (const unsigned oid : oids) text += (text.size() == 1 ? "" : ",") + std::to_string(oid);
  return text + "}";
}

class Reader {
 public:
  explicit Reader(PostgresTransaction& transaction) : transaction_(transaction) {}

  ViewReads read(unsigned view) {
    queue(view);
    while (!waiting_.empty()) {
      const unsigned oid = waiting_.front();
      waiting_.pop_front();
      read_relation(oid);
    }
    for (const unsigned nested : views_) reads_.tables.erase(nested);
    for (const unsigned table : row_secured_) {
      for (const unsigned reader : readers_[table]) {
        if (policies_apply(table, reader)) reads_.row_secured.insert(reads_.tables[table].name);
      }
    }
    if (tree_unknown_) {
      for (auto& [oid, table] : reads_.tables) table.every_column = true;
    }
    return std::move(reads_);
  }

 private:
  void queue(unsigned oid) {
    if (seen_relations_.insert(oid).second) waiting_.push_back(oid);
  }

  bool policies_apply(unsigned table, unsigned reader) {
    if (reader == 0) return true;
    return only_row(transaction_.run(postgres_sql("policies_apply"), table, reader))[0].as<bool>();
  }

  void read_relation(unsigned oid) {
    const PostgresRelation relation = describe_relation(transaction_, oid);
    if (relation.kind == 'v') {
      views_.insert(oid);
      read_rule(relation);
      return;
    }
    TableRead& table = reads_.tables[oid];
    table.name = relation.name;
    table.kind = relation.kind;
    if (relation.row_security) row_secured_.insert(oid);
  }

  void read_rule(const PostgresRelation& view) {
    const pqxx::row rule = only_row(transaction_.look_up(postgres_sql("view_rule"), view.oid));
    add_columns("pg_rewrite", rule[0].as<unsigned>(), view.oid);
    References references = references_in("view " + view.name, rule[1].c_str());
    references.relations.erase(view.oid);  // a rule names its own view, as OLD and NEW
    follow(references, view.security_invoker ? std::nullopt : std::optional(view.owner));
  }

  // A newer server may write trees that this cannot read: then nothing is known, and every update counts.
  References references_in(const std::string& name, const char* tree) {
    try {
      const PostgresNode root = parse_node_tree(tree);
      add_unordered(unordered_lists_in(root));
      for (const UnorderedLimit& limit : unordered_limits_in(root)) {
        if (!has_one_row(limit)) reads_.any_rows.insert(names_of(limit));
      }
      return ReferenceWalker().walk_all(root);
    } catch (const NodeTreeError&) {
      reads_.opaque.insert(name);
      tree_unknown_ = true;
      return {};
    }
  }

  void add_unordered(const UnorderedLists& lists) {
    if (lists.array_of_query) reads_.unordered.insert("array(select …)");
    if (lists.functions.empty()) return;
    for (const pqxx::row& row :
         transaction_.run(postgres_sql("ordered_functions"), array_of(lists.functions)))
      reads_.unordered.insert(row[0].c_str());
  }

  // Table after table is looked up by a unique key with values of those that were.
  bool has_one_row(const UnorderedLimit& limit) {
    std::set<long> looked_up;
    for (bool grown = true; grown;) {
      grown = false;
      for (const UnorderedLimit::Table& table : limit.tables) {
        if (!looked_up.contains(table.number) && is_looked_up(table, looked_up))
          grown = looked_up.insert(table.number).second;
      }
    }
    return looked_up.size() == limit.tables.size();
  }

  bool is_looked_up(const UnorderedLimit::Table& table, const std::set<long>& known) {
    std::set<std::string> equal;
    for (const UnorderedLimit::Comparison& comparison : table.comparisons) {
      const bool has_value =
          std::includes(known.begin(), known.end(), comparison.others.begin(), comparison.others.end());
      if (has_value &&
          transaction_.look_up(postgres_sql("is_equality"), comparison.operator_oid)[0][0].as<bool>())
        equal.insert(std::to_string(comparison.column));
    }
    const pqxx::result keys =
        transaction_.run(postgres_sql("unique_keys"), array_literal({std::to_string(table.oid)}));
    return std::any_of(keys.begin(), keys.end(), [&](const pqxx::row& key) {
      const std::vector<std::string> columns = parse_array(key[0].c_str());
      return std::all_of(columns.begin(), columns.end(),
                         [&](const std::string& column) { return equal.contains(column); });
    });
  }

  std::string names_of(const UnorderedLimit& limit) {
    std::set<unsigned> tables;
    for (const UnorderedLimit::Table& table : limit.tables) {
      if (table.oid != 0) tables.insert(table.oid);
    }
    const pqxx::result names = transaction_.run(
        "select string_agg(t.oid::regclass::text, ', ' order by t.oid) from unnest($1::oid[]) as t (oid)",
        array_of(tables));
    return names[0][0].is_null() ? "a subquery" : names[0][0].c_str();
  }

  void add_columns(const char* catalog, unsigned oid, unsigned own_view) {
    for (const pqxx::row& row : transaction_.run(postgres_sql("read_columns"), catalog, oid)) {
      const auto relation = row[0].as<unsigned>();
      if (relation == own_view) continue;
      TableRead& table = reads_.tables[relation];
      const int column = row[1].as<int>();
      if (column < 0) {
        table.every_update = true;
      } else if (column > 0) {
        table.columns.insert(column);
      }
      queue(relation);
    }
  }

  // `reader` is the role with whose rights it reads; none: the reader of the view.
  void follow(const References& references, std::optional<unsigned> reader) {
    for (const unsigned relation : references.relations) {
      readers_[relation].insert(reader.value_or(0));
      if (!reader) reads_.read_as_invoker.insert(relation);
      if (references.unknown_whole_row || references.whole_rows.contains(relation)) {
        reads_.tables[relation].every_column = true;
      }
      queue(relation);
    }
    reads_.environment.insert(references.environment.begin(), references.environment.end());
    follow_functions(references);
  }

  void follow_functions(const References& references) {
    const pqxx::result called = transaction_.run(
        postgres_sql("called_functions"), array_of(references.functions), array_of(references.operators));
    for (const pqxx::row& row : called) {
      const auto oid = row[0].as<unsigned>();
      if (!seen_functions_.insert(oid).second) continue;
      const std::string name = row[1].c_str();
      const bool is_aggregate = row[2].as<bool>();
      const bool built_in = row[3].as<bool>();
      if (row[4].as<bool>()) reads_.environment.insert(name);
      if (row[5].as<bool>()) reads_.opaque.insert(name);
      if (built_in) continue;
      reads_.functions.insert(oid);
      if (row[10].as<bool>()) reads_.volatile_functions.insert(name);
      if (row[6].as<bool>() || is_aggregate) continue;  // the parts of an aggregate come by themselves
      if (row[7].is_null()) {
        if (row[9].is_null() || may_read(row[9].c_str())) reads_.opaque.insert(name);
        continue;
      }
      add_columns("pg_proc", oid, 0);
      // A function reads with the rights of the view's reader, unless it is a security definer.
      follow(references_in(name, row[7].c_str()),
             row[8].is_null() ? std::nullopt : std::optional(row[8].as<unsigned>()));
    }
  }

  // Whether a function reads tables, by the text of its string body. It is declared to depend on its
  // arguments alone; so must be all that it calls.
  bool may_read(const std::string& text) {
    const auto [known, is_new] =
        may_read_.emplace(text, false);  // false while it is looked at: it may call itself
    if (!is_new) return known->second;
    const auto calls = calls_of_text_without_reads(text);
    bool may = !calls;
    if (calls) {
      const std::vector<std::string> names(calls->begin(), calls->end());
      for (const pqxx::row& row : transaction_.run(postgres_sql("functions_called"), array_literal(names)))
        may = may || !row[1].as<bool>() || may_read(row[2].c_str());
    }
    return may_read_[text] = may;
  }

  PostgresTransaction& transaction_;
  ViewReads reads_;
  std::map<std::string, bool> may_read_;  // by the text of a function
  bool tree_unknown_ = false;
  std::deque<unsigned> waiting_;
  std::set<unsigned> seen_relations_;
  std::set<unsigned> seen_functions_;
  std::set<unsigned> views_;
  std::set<unsigned> row_secured_;
  std::map<unsigned, std::set<unsigned>> readers_;  // roles by relation; 0: the reader of the view
};

}  // namespace

ViewReads read_view(PostgresTransaction& transaction, unsigned view) {
  return Reader(transaction).read(view);
}

}  // namespace lockstep
