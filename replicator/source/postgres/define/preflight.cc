#include "replicator/source/postgres/define/preflight.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "replicator/embedded_file.h"
#include "replicator/error.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/grants.h"
#include "replicator/source/postgres/define/triggers.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

using Severity = Finding::Severity;

constexpr int kOldestServer = 130000;
constexpr int kSmallTablePages = 128;     // a megabyte: read as a whole sooner than through an index
constexpr int kLongestId = 512;           // bytes; Elasticsearch takes no longer ones
constexpr const char* kTimeLimit = "5s";  // for each look at rows

class Preflight {
 public:
  Preflight(PostgresSession& session, const Config& config, pqxx::work& transaction)
      : session_(session), config_(config), transaction_(transaction) {}

  std::vector<Finding> check() {
    if (!check_server() || !check_schema()) return std::move(findings_);
    design_ = design_pipeline(transaction_, config_);
    findings_.insert(findings_.end(), design_.findings.begin(), design_.findings.end());
    check_rights();
    for (const auto& [name, table] : design_.tables) check_table(table);
    transaction_.exec0(std::string("set local statement_timeout = '") + kTimeLimit + "'");
    for (const IndexDesign& index : design_.indices) {
      check_ids(index);
      check_searches(index);
      check_values(index);
    }
    return std::move(findings_);
  }

 private:
  void fault(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Severity::kError, std::move(place), std::move(message), std::move(remedy)});
  }
  void warn(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Severity::kWarning, std::move(place), std::move(message), std::move(remedy)});
  }

  // --- the server ---

  bool check_server() {
    const pqxx::row facts =
        transaction_.exec_params1(std::string(postgres_sql("server_facts")), config_.source.schema);
    database_ = facts[4].c_str();
    user_ = facts[5].c_str();
    may_create_schema_ = facts[6].as<bool>();
    owns_schema_ = facts[7].as<bool>();
    if (!facts[8].is_null()) schema_owner_ = facts[8].c_str();
    if (facts[1].as<int>() < kOldestServer) {
      fault("source", std::string("the server is PostgreSQL ") + facts[2].c_str(),
            "lockstep needs 13 or newer");
      return false;
    }
    if (facts[0].as<bool>()) {
      fault("source", "the server is a standby, which cannot tell which transactions are still running",
            "let source.url name the primary");
    }
    if (facts[3].c_str() == std::string("SQL_ASCII")) {
      warn("source", "the database's encoding is SQL_ASCII: texts that are not UTF-8 cannot be indexed");
    }
    return true;
  }

  // False: nothing in it can be trusted.
  bool check_schema() {
    has_schema_ = transaction_
                      .exec_params1(
                          "select exists (select 1 from pg_class as c join pg_namespace as n on n.oid = "
                          "c.relnamespace where n.nspname = $1 and c.relname = 'migration')",
                          config_.source.schema)[0]
                      .as<bool>();
    if (!has_schema_) return true;
    const std::optional<Complaint> complaint = complaint_about(
        transaction_,
        session_.sql("select from {schema}.migration, {schema}.pipeline, {schema}.index, {schema}.capture, "
                     "{schema}.track limit 0"));
    if (complaint && complaint->is_missing_right()) return true;  // each right is asked about later
    try {
      pending_migrations(transaction_, session_, config_.source.schema,
                         read_migrations(postgresql_migrations()));
    } catch (const UsageError& error) {
      fault("source.schema", error.what());
      return false;
    }
    applied_ = load_applied(transaction_, session_, config_.source.schema, config_.pipeline);
    return true;
  }

  // --- rights ---

  // Whoever owns lockstep's schema, or finds none, is taken for the role of `apply`, which may do what `run`
  // does; anybody else for the role of `run`. What that may not look into, the role of `apply` has looked
  // into.
  void check_rights() {
    if (!has_schema_ || owns_schema_) {
      const std::vector<Finding> missing = missing_for_apply();
      findings_.insert(findings_.end(), missing.begin(), missing.end());
      findings_.insert(findings_.end(), design_.denied.begin(), design_.denied.end());
    }
    if (!has_schema_) return;
    for (const std::string& grant : missing_grants(transaction_, session_, design_)) {
      fault("role " + user_, "it lacks a right that `lockstep run` needs", grant);
    }
  }

  std::vector<Finding> missing_for_apply() const {
    std::vector<Finding> missing;
    const auto add = [&](std::string message, std::string remedy) {
      missing.push_back({Severity::kError, "role " + user_, std::move(message), std::move(remedy)});
    };
    const std::string quoted_user = session_.quote_name(user_);
    if (schema_owner_.empty() && !may_create_schema_) {
      add("it may not create schema " + session_.schema(),
          "grant create on database " + session_.quote_name(database_) + " to " + quoted_user);
    } else if (!schema_owner_.empty() && !owns_schema_) {
      add("schema " + session_.schema() + " belongs to " + schema_owner_,
          "run apply as " + schema_owner_ + ", or grant " + session_.quote_name(schema_owner_) + " to " +
              quoted_user);
    }
    for (const auto& [name, table] : design_.tables) {
      std::vector<std::string> others;
      if (!table.relation.owned) others.push_back(name);
      for (const TableMember& member : table.members) {
        if (!member.owned && member.kind != 'f') others.push_back(member.name);
      }
      for (const std::string& other : others) {
        add("it does not own table " + other + ", so it cannot make triggers on it",
            "run apply as the table's owner, or grant " + owner_of(other) + " to " + quoted_user);
      }
    }
    return missing;
  }

  std::string owner_of(const std::string& relation) const {
    return transaction_
        .exec1("select quote_ident(pg_get_userbyid(relowner)) from pg_class where oid::regclass::text = " +
               transaction_.quote(relation))[0]
        .c_str();
  }

  // --- tables ---

  void check_table(const TableDesign& table) {
    check_one_table(table.relation.oid, table.relation.name);
    for (const TableMember& member : table.members) {
      if (member.kind != 'f') check_one_table(member.oid, member.name);
    }
    check_triggers(table);
  }

  void check_one_table(unsigned oid, const std::string& name) {
    const pqxx::row facts = transaction_.exec_params1(std::string(postgres_sql("table_facts")), oid);
    const std::string persistence = facts[0].c_str();
    if (persistence == "u") {
      warn("table " + name, "it is unlogged: a crash of the server empties it, and no trigger fires",
           "alter table " + name + " set logged, or verify after a crash");
    } else if (persistence == "t") {
      fault("table " + name, "it is temporary", "track a table that stays");
    }
    if (facts[3].as<bool>()) {
      warn("table " + name, "row security is forced on it, so what finds its documents sees a part only",
           "let a role apply that has bypassrls");
    }
    if (facts[4].as<bool>()) {
      warn("table " + name, "it is filled by a subscription, whose changes fire no statement trigger");
    }
  }

  // Only of a table that has been applied before: a new one is what `apply` is for.
  void check_triggers(const TableDesign& table) {
    if (!applied_.pipeline) return;
    std::map<unsigned, int> complete;
    bool is_known = false;
    for (const AppliedTrigger& trigger : applied_.triggers) {
      for (const TriggerEvent event : kTriggerEvents) {
        if (trigger.function != trigger_function_name(*applied_.pipeline, table.relation.name, event))
          continue;
        is_known = true;
        if (trigger.as_made && trigger.type == event_type(event)) ++complete[trigger.table_oid];
      }
    }
    if (!is_known) return;
    const auto check_one = [&](unsigned oid, const std::string& name, const std::string& what) {
      if (complete[oid] == static_cast<int>(std::size(kTriggerEvents))) return;
      fault(what + name, "triggers are missing or disabled, so changes of it are missed",
            "run `lockstep apply`");
    };
    check_one(table.relation.oid, table.relation.name, "table ");
    for (const TableMember& member : table.members) {
      if (member.kind != 'f')
        check_one(member.oid, member.name, "part of " + table.relation.name + ": table ");
    }
  }

  // --- rows ---

  // Runs a look at rows; a time limit that is reached is told, a missing right has been told already.
  bool look(const std::string& place, const std::string& what, const std::vector<std::string>& statements,
            const std::function<void(const pqxx::result&)>& on_result) {
    const std::optional<Complaint> complaint = complaint_about(transaction_, statements, on_result);
    if (!complaint) return true;
    if (complaint->sqlstate == "57014") {
      warn(place, what + " took longer than " + kTimeLimit + ", so it was not checked");
    } else if (!complaint->is_missing_right()) {
      fault(place, what + ": " + complaint->message);
    }
    return false;
  }

  void check_ids(const IndexDesign& index) {
    const std::string statement = fill_placeholders(postgres_sql("sample_ids"), {{"view", index.view}});
    look(index.line, "reading some rows of view " + index.view, {"set local enable_seqscan = on", statement},
         [&](const pqxx::result& result) {
           const pqxx::row row = result[0];
           if (row[1].as<int>() > 0) {
             fault(index.line,
                   std::string(row[1].c_str()) + " of " + row[0].c_str() + " rows of view " + index.view +
                       " have no _id",
                   "leave them out: where … is not null");
           }
           if (!row[2].is_null()) {
             fault(index.line,
                   "_id of view " + index.view + " is not unique: several rows have " + row[2].c_str(),
                   "group them into one row, or take another _id");
           }
           if (!row[3].is_null() && row[3].as<int>() > kLongestId) {
             warn(index.line, "view " + index.view + " has an _id of " + row[3].c_str() +
                                  " bytes; Elasticsearch takes " + std::to_string(kLongestId) +
                                  " at most, so it becomes a dead letter");
           }
         });
  }

  // Searches that have no index: with sequential scans switched off the planner takes one only if it must.
  void check_searches(const IndexDesign& index) {
    const std::string by_id = "select from " + index.view + " as v where v._id = any($1)";
    warn_of_scans(index.line, "finding documents of view " + index.view + " by their _id", by_id,
                  index.id_type);
    for (const TrackDesign& track : index.tracks) {
      if (track.resolver_query.empty()) continue;
      warn_of_scans(track.line,
                    "finding the documents of " + index.alias + " for a changed row of " + track.table,
                    track.resolver_query, design_.captures[track.capture].value_type);
    }
  }

  void warn_of_scans(const std::string& place, const std::string& what, const std::string& query,
                     const std::string& type) {
    constexpr const char* kProbe = "lockstep_search_probe";
    const std::string prepare = std::string("prepare ") + kProbe + "(" + type + "[]) as " + query;
    const bool is_prepared = !complaint_about(transaction_, prepare);
    std::set<std::string> scanned;
    if (is_prepared) transaction_.exec0(std::string("deallocate ") + kProbe);
    if (!is_prepared) return;
    look(place, what,
         {"set local enable_seqscan = off", "set local plan_cache_mode = force_generic_plan", prepare,
          std::string("explain (format json, verbose) execute ") + kProbe + "('{}')"},
         [&](const pqxx::result& result) {
           scans_in(nlohmann::json::parse(result[0][0].c_str()).at(0).at("Plan"), scanned);
         });
    complaint_about(transaction_, std::string("deallocate ") + kProbe);
    for (const std::string& table : scanned) {
      warn(place, what + " reads the whole of " + table, "create an index for it");
    }
  }

  // Without a condition that compares, an index too is read from one end to the other.
  static bool reads_all(const nlohmann::json& plan) {
    if (!plan.contains("Relation Name")) return false;
    const std::string node = plan.at("Node Type");
    if (node == "Seq Scan") return true;
    const nlohmann::json& by_index =
        node == "Bitmap Heap Scan" && plan.contains("Plans") ? plan.at("Plans").at(0) : plan;
    return by_index.at("Node Type").get<std::string>().find("Index") != std::string::npos &&
           by_index.value("Index Cond", "").find_first_of("=<>@&|~?") == std::string::npos;
  }

  void scans_in(const nlohmann::json& plan, std::set<std::string>& scanned) {
    if (reads_all(plan)) {
      const auto schema = plan.value("Schema", "");
      const auto relation = plan.at("Relation Name").get<std::string>();
      const pqxx::result big = transaction_.exec_params(
          "select c.oid::regclass::text from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "
          "where n.nspname = $1 and c.relname = $2 and pg_relation_size(c.oid) > $3::bigint * "
          "current_setting('block_size')::bigint",
          schema, relation, kSmallTablePages);
      if (!big.empty()) scanned.insert(big[0][0].c_str());
    }
    if (!plan.contains("Plans")) return;
    for (const nlohmann::json& below : plan.at("Plans")) scans_in(below, scanned);
  }

  // Values that are taken as ids and never are one: a text _id made in another way, for instance.
  void check_values(const IndexDesign& index) {
    for (const TrackDesign& track : index.tracks) {
      if (!track.resolver_query.empty()) continue;
      const CaptureDesign& capture = design_.captures[track.capture];
      const TableDesign& table = design_.tables.at(track.table);
      const std::string statement =
          fill_placeholders(postgres_sql("compare_values"), {{"expression", capture.expression},
                                                             {"relation", capture.relation},
                                                             {"alias", table.relation.alias},
                                                             {"view", index.view},
                                                             {"id_type", index.id_type}});
      look(track.line, "comparing rows of " + track.table + " with view " + index.view,
           {"set local enable_seqscan = on", statement}, [&](const pqxx::result& result) {
             const pqxx::row row = result[0];
             if (row[0].as<int>() == 0 || row[1].as<int>() > 0 || !row[2].as<bool>()) return;
             warn(track.line,
                  std::string("none of ") + row[0].c_str() + " rows of " + track.table +
                      " has a value that is an _id of view " + index.view + ": " + capture.expression,
                  "say with row, column or keys how to get from its rows to documents");
           });
    }
  }

  PostgresSession& session_;
  const Config& config_;
  pqxx::work& transaction_;
  std::vector<Finding> findings_;
  PipelineDesign design_;
  AppliedObjects applied_;
  std::string database_;
  std::string user_;
  std::string schema_owner_;
  bool may_create_schema_ = false;
  bool owns_schema_ = false;
  bool has_schema_ = false;
};

}  // namespace

std::vector<Finding> check_postgres(PostgresSession& session, const Config& config) {
  std::vector<Finding> findings;
  translating_postgres_errors("checking the source", [&] {
    pqxx::work transaction(session.connection());
    transaction.exec0("set transaction read only");
    findings = Preflight(session, config, transaction).check();
  });
  return findings;
}

}  // namespace lockstep
