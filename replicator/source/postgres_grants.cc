#include "replicator/source/postgres_grants.h"

#include <set>
#include <utility>

namespace lockstep {

const std::vector<TableRight>& own_table_rights() {
  static const std::vector<TableRight> kRights = {
      {"pipeline", "select"},
      {"index", "select"},
      {"capture", "select"},
      {"track", "select"},
      {"checkpoint", "select, update"},
      {"outbox", "select"},
      // Consumed leaves are emptied by truncate.
      {"outbox_0", "select, truncate"},
      {"outbox_1", "select, truncate"},
      {"outbox_2", "select, truncate"},
      {"job", "select, insert, update, delete"},
      {"job_document", "select, insert, delete"},
      {"route", "select, insert, update, delete"},
      {"dead_letter", "select, insert, update, delete"},
      {"pipeline_status", "select, insert, update"},
  };
  return kRights;
}

namespace {

class Grants {
 public:
  Grants(pqxx::transaction_base& transaction, const PostgresSession& session, const PipelineDesign& design,
         const std::string& role)
      : transaction_(transaction), session_(session), design_(design), role_(session.quote_name(role)) {}

  std::vector<std::string> statements() {
    if (!asked("select has_database_privilege('public', current_database(), 'connect')")) {
      grant("connect on database " +
            transaction_.quote_name(transaction_.exec1("select current_database()")[0].c_str()));
    }
    schemas();
    grant("usage on schema " + session_.schema());
    for (const IndexDesign& index : design_.indices) grant("select on " + index.view);
    for (const IndexDesign& index : design_.indices) below_view(index);
    for (const TableRight& right : own_table_rights()) {
      grant(right.rights + " on " + session_.schema() + "." + right.table);
    }
    resolvers();
    return std::move(statements_);
  }

 private:
  bool asked(const std::string& question) { return transaction_.exec1(question)[0].as<bool>(); }

  void grant(const std::string& what) {
    if (given_.insert(what).second) statements_.push_back("grant " + what + " to " + role_);
  }

  void schemas() {
    for (const IndexDesign& index : design_.indices) {
      grant("usage on schema " + schema_of("pg_class", "relnamespace", std::to_string(index.view_oid)));
      for (const TrackDesign& track : index.tracks) {
        if (track.resolver_query.empty()) continue;
        // The values are cast to their type by name.
        const std::string type =
            schema_of("pg_type", "typnamespace",
                      transaction_.quote(design_.captures[track.capture].value_type) + "::regtype");
        if (type != "pg_catalog") grant("usage on schema " + type);
      }
    }
  }

  std::string schema_of(const std::string& catalog, const std::string& column, const std::string& oid) {
    return transaction_
        .exec1("select quote_ident(n.nspname) from pg_namespace as n join " + catalog + " as o on o." +
               column + " = n.oid where o.oid = " + oid)[0]
        .c_str();
  }

  // What a view's owner lends to its readers needs no grant; the rest does.
  void below_view(const IndexDesign& index) {
    for (const unsigned oid : index.reads.read_as_invoker) {
      if (oid < 16384) continue;
      grant("select on " + text("select " + std::to_string(oid) + "::regclass::text"));
    }
    for (const unsigned oid : index.reads.functions) {
      const std::string number = std::to_string(oid);
      if (asked("select has_function_privilege('public', " + number + "::oid, 'execute')")) continue;
      grant("execute on function " + text("select " + number + "::regprocedure::text"));
    }
  }

  std::string text(const std::string& question) { return transaction_.exec1(question)[0].c_str(); }

  void resolvers() {
    for (const IndexDesign& index : design_.indices) {
      for (const TrackDesign& track : index.tracks) {
        const std::string resolver = resolver_name(design_, track);
        if (resolver.empty()) continue;
        grant("execute on function " + session_.schema() + "." + resolver + "(" +
              design_.captures[track.capture].value_type + "[])");
      }
    }
    // A later apply makes new ones.
    statements_.push_back("alter default privileges for role " +
                          session_.quote_name(text("select current_user")) + " in schema " +
                          session_.schema() + " grant execute on functions to " + role_);
  }

  pqxx::transaction_base& transaction_;
  const PostgresSession& session_;
  const PipelineDesign& design_;
  const std::string role_;
  std::vector<std::string> statements_;
  std::set<std::string> given_;
};

}  // namespace

std::vector<std::string> grants_for_run(pqxx::transaction_base& transaction, const PostgresSession& session,
                                        const PipelineDesign& design, const std::string& role) {
  return Grants(transaction, session, design, role).statements();
}

}  // namespace lockstep
