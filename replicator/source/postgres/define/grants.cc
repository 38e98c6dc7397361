#include "replicator/source/postgres/define/grants.h"

#include <algorithm>
#include <set>
#include <utility>

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kOutbox = "outbox";

struct TableRights {
  std::string table;
  std::vector<const char*> rights;
};

const std::vector<TableRights>& own_tables() {
  static const std::vector<TableRights> kTables = {
      {"migration", {"select"}},
      {"pipeline", {"select"}},
      {"index", {"select"}},
      {"capture", {"select"}},
      {"track", {"select"}},
      {"checkpoint", {"select", "update"}},
      {kOutbox, {"select", "delete"}},
      {"job", {"select", "insert", "update", "delete"}},
      {"due", {"select", "insert", "update", "delete"}},
      {"route", {"select", "insert", "update", "delete"}},
      {"dead_letter", {"select", "insert", "update", "delete"}},
      {"pipeline_status", {"select", "insert", "update"}},
      {"capture_state", {"select", "update"}},
      {"set_aside", {"select", "insert", "delete"}},
      {"part", {"select"}},
      {"reindex", {"select", "insert", "update"}},
      {"pace", {"select", "insert", "update"}},
  };
  return kTables;
}

constexpr std::size_t kQuestionsAtOnce = 100;  // in one statement, as columns of its one row

struct Grant {
  std::string what;      ///< "select on blog.documents"
  std::string question;  ///< an SQL expression: whether the current user has the right
};

// Asks about objects by oid: by name the server would need the right to use their schema.
class Rights {
 public:
  Rights(PostgresTransaction& transaction, const PipelineDesign& design)
      : transaction_(transaction), session_(transaction.session()), design_(design) {}

  std::vector<Grant> all() {
    if (!holds("select has_database_privilege('public', current_database(), 'connect')")) {
      add("connect on database " + session_.quote_name(text("select current_database()")), "true");
    }
    for (const IndexDesign& index : design_.indices) schemas_of(index);
    add("usage on schema " + session_.schema(),
        "(select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = " + schema_name() +
            ")");
    for (const IndexDesign& index : design_.indices) select_on(index.view_oid);
    for (const IndexDesign& index : design_.indices) below_view(index);
    for (const TableRights& table : own_tables()) {
      own_table(table);
      if (table.table == kOutbox) leaves();
    }
    own_function("await_change", "text, double precision, double precision");
    own_function("outbox_leaves", "");
    own_function("outbox_is_over", "");
    own_function("write_outbox_leaf", "integer");
    own_function("note_outbox_passed", "integer, bigint");
    own_function("tables_above", "oid");
    own_function("advance_reindex", "bigint, bigint, text, text, text, text, text, text, bigint, text");
    own_function("note_definition", "integer, text, text, text");
    for (const IndexDesign& index : design_.indices) resolvers_of(index);
    functions_of_tables();
    return std::move(grants_);
  }

 private:
  bool holds(const std::string& question) { return transaction_.run_once(question)[0][0].as<bool>(); }
  std::string text(const std::string& question) { return transaction_.run_once(question)[0][0].c_str(); }

  void add(std::string what, std::string question) {
    if (known_.insert(what).second) grants_.push_back({std::move(what), std::move(question)});
  }

  std::string schema_name() const {
    return "(parse_ident(" + transaction_.quote(session_.schema()) + "))[1]";
  }

  void usage_of(const std::string& catalog, const std::string& column, const std::string& object) {
    const pqxx::row row = only_row(
        transaction_.run_once("select n.oid, quote_ident(n.nspname) from pg_namespace as n join " + catalog +
                              " as o on o." + column + " = n.oid where o.oid = " + object));
    if (row[1].c_str() == std::string("pg_catalog")) return;
    add(std::string("usage on schema ") + row[1].c_str(),
        std::string("has_schema_privilege(") + row[0].c_str() + "::oid, 'usage')");
  }

  void schemas_of(const IndexDesign& index) {
    usage_of("pg_class", "relnamespace", std::to_string(index.view_oid));
    for (const TrackDesign& track : index.tracks) {
      // The values are cast to their type by its name.
      if (track.resolver_query.empty()) continue;
      usage_of("pg_type", "typnamespace", std::to_string(design_.captures[track.capture].value_type_oid));
    }
  }

  void select_on(unsigned relation) {
    const std::string oid = std::to_string(relation);
    add("select on " + text("select " + oid + "::regclass::text"),
        "has_table_privilege(" + oid + "::oid, 'select')");
  }

  // The readers of a view need no right on the objects that it reads with the rights of its owner, but on the
  // rest.
  void below_view(const IndexDesign& index) {
    for (const unsigned relation : index.reads.read_as_invoker) {
      if (relation >= kFirstOwnOid) select_on(relation);
    }
    for (const unsigned function : index.reads.functions) {
      const std::string oid = std::to_string(function);
      if (holds("select has_function_privilege('public', " + oid + "::oid, 'execute')")) continue;
      add("execute on function " + text("select " + oid + "::regprocedure::text"),
          "has_function_privilege(" + oid + "::oid, 'execute')");
    }
  }

  // A table that does not exist yet counts as granted: the next apply makes it.
  void own_table(const TableRights& table) {
    std::string rights;
    std::string question;
    for (const char* right : table.rights) {
      rights += (rights.empty() ? "" : ", ") + std::string(right);
      question +=
          (question.empty() ? "" : " and ") + std::string("has_table_privilege(c.oid, '") + right + "')";
    }
    add(rights + " on " + session_.schema() + "." + table.table,
        "coalesce((select " + question +
            " from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where c.relname = '" +
            table.table + "' and n.nspname = " + schema_name() + "), true)");
  }

  // Consumed leaves are emptied by truncate.
  void leaves() {
    for (const pqxx::row& row : transaction_.run_once(postgres_sql("outbox_leaves"))) {
      own_table({row[0].c_str(), {"select", "truncate"}});
    }
  }

  void resolvers_of(const IndexDesign& index) {
    for (const TrackDesign& track : index.tracks) {
      const std::string resolver = resolver_name(design_, track);
      if (resolver.empty()) continue;
      own_function(resolver, design_.captures[track.capture].value_type + "[]");
    }
  }

  // Those that exist: their names have the pipeline's number, which the first apply chooses. Its default
  // privileges cover those that it makes.
  void functions_of_tables() {
    for (const pqxx::row& row : transaction_.run_once(
             "select p.proname from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace where "
             "p.proname ~ '^capture_.*_(check|parts)$' and n.nspname = " +
             schema_name() + " order by 1")) {
      own_function(row[0].c_str(), "");
    }
  }

  // A function that does not exist yet counts as granted: the next apply makes it.
  void own_function(const std::string& name, const std::string& parameters) {
    add("execute on function " + session_.schema() + "." + name + "(" + parameters + ")",
        "(select coalesce(bool_and(has_function_privilege(p.oid, 'execute')), true) from pg_proc as p join "
        "pg_namespace as n on n.oid = p.pronamespace where p.proname = '" +
            name + "' and n.nspname = " + schema_name() + ")");
  }

  PostgresTransaction& transaction_;
  const PostgresSession& session_;
  const PipelineDesign& design_;
  std::vector<Grant> grants_;
  std::set<std::string> known_;
};

}  // namespace

std::vector<std::string> grants_for_run(PostgresTransaction& transaction, const PipelineDesign& design,
                                        const std::string& role) {
  const std::string grantee = transaction.run_once("select quote_ident($1)", role)[0][0].c_str();
  std::vector<std::string> statements;
  for (const Grant& grant : Rights(transaction, design).all()) {
    statements.push_back("grant " + grant.what + " to " + grantee);
  }
  // For the functions that later applies make.
  const std::string owner = transaction.run_once("select quote_ident(current_user)")[0][0].c_str();
  statements.push_back("alter default privileges for role " + owner + " in schema " +
                       transaction.session().schema() + " grant execute on functions to " + grantee);
  return statements;
}

std::vector<std::string> missing_grants(PostgresTransaction& transaction, const PipelineDesign& design) {
  const std::string grantee = transaction.run_once("select quote_ident(current_user)")[0][0].c_str();
  std::vector<std::string> statements;
  const std::vector<Grant> grants = Rights(transaction, design).all();
  for (std::size_t begin = 0; begin < grants.size(); begin += kQuestionsAtOnce) {
    const std::size_t end = std::min(begin + kQuestionsAtOnce, grants.size());
    std::string questions;
    for (std::size_t i = begin; i < end; ++i)
      questions += (i == begin ? "select coalesce(" : ", coalesce(") + grants[i].question + ", false)";
    const pqxx::result held = transaction.run_once(questions);
    for (std::size_t i = begin; i < end; ++i) {
      if (!held[0][static_cast<pqxx::row::size_type>(i - begin)].as<bool>())
        statements.push_back("grant " + grants[i].what + " to " + grantee);
    }
  }
  return statements;
}

}  // namespace lockstep
