#include "replicator/source/postgres/define/preflight.h"

#include <map>
#include <optional>
#include <utility>

#include "replicator/embedded_file.h"
#include "replicator/error.h"
#include "replicator/source/postgres/catalog/differences.h"
#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/design.h"
#include "replicator/source/postgres/define/expression_checks.h"
#include "replicator/source/postgres/define/grants.h"
#include "replicator/source/postgres/define/row_checks.h"
#include "replicator/source/postgres/define/triggers.h"
#include "replicator/source/postgres/define/trust.h"
#include "replicator/source/postgres/session/migrations.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

using Severity = Finding::Severity;

constexpr int kOldestServer = 130000;  // server_version_num

class Preflight {
 public:
  Preflight(PostgresTransaction& transaction, const Config& config)
      : transaction_(transaction), session_(transaction.session()), config_(config) {}

  /// Empty until check() has looked at it, and if nothing may be trusted.
  const PipelineDesign& design() const { return design_; }

  std::vector<Finding> check() {
    if (!check_server() || !check_trust(config_) || !check_schema()) return std::move(findings_);
    Config followed = config_;
    followed.indices = wanted_indices(config_, stored_indices_of(applied_.indices));
    if (!lends_rights_ && !check_trust(followed)) return std::move(findings_);
    design_ = design_pipeline(transaction_, config_, followed.indices);
    findings_.insert(findings_.end(), design_.findings.begin(), design_.findings.end());
    check_rights();
    for (const auto& [name, table] : design_.tables) check_table(table);
    warn_of_differences();
    transaction_.execute("set transaction read only");  // the application's code runs from here on
    check_rows(transaction_, design_, findings_);
    return std::move(findings_);
  }

 private:
  void fault(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back(
        {Severity::kError, std::move(place), std::move(message), std::move(remedy), Finding::Cause::kServer});
  }
  void warn(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Severity::kWarning, std::move(place), std::move(message), std::move(remedy)});
  }

  // --- the server ---

  bool check_server() {
    const pqxx::row facts = transaction_.run_once(postgres_sql("server_facts"), config_.source.schema)[0];
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
      fault("source", "the server is a standby, which cannot show which transactions are still running",
            "let source.url name the primary");
    }
    if (facts[9].as<bool>()) {
      fault("source",
            "default_transaction_read_only is on for " + user_ + ", so that no process can lead the pipeline",
            "take it from the role, the database or the server: alter role " + user_ +
                " set default_transaction_read_only = off");
    }
    if (!session_.tells_wal()) {
      warn("source",
           "the server does not show where its WAL ends, so each batch costs it one more flush of the WAL",
           "grant execute on pg_control_system, pg_walfile_name, pg_current_wal_insert_lsn and "
           "pg_current_wal_flush_lsn, if it can be granted (Aurora: turn logical replication on)");
    }
    if (facts[3].c_str() == std::string("SQL_ASCII")) {
      warn("source", "the database's encoding is SQL_ASCII: texts that are not UTF-8 cannot be indexed");
    }
    return true;
  }

  // False: nothing in Lockstep's schema can be trusted.
  bool check_schema() {
    has_schema_ = has_own_tables(transaction_, config_.source.schema);
    if (!has_schema_) return true;
    const std::optional<Complaint> complaint = complaint_about(
        transaction_,
        session_.sql("select from {schema}.migration, {schema}.pipeline, {schema}.index, {schema}.capture, "
                     "{schema}.track limit 0"));
    if (complaint && complaint->is_missing_right()) return true;  // check_rights() names it
    try {
      is_older_ =
          !pending_migrations(transaction_, config_.source.schema, read_migrations(postgresql_migrations()))
               .empty();
    } catch (const UsageError& error) {
      fault("source.schema", error.what());
      return false;
    }
    applied_ = load_applied(transaction_, config_.source.schema, config_.pipeline);
    return true;
  }

  // If changes are lost, check_triggers() reports it.
  void warn_of_differences() {
    if (!applied_.pipeline) return;
    if (is_older_) {
      warn("source.schema", "an older lockstep has made it, so the changes since then are not known",
           "run `lockstep apply`");
      return;
    }
    for (Difference& difference :
         differences_from_applied(transaction_, *applied_.pipeline, config_.source.schema)) {
      if (!difference.loses_changes && !difference.text.empty()) warn("source", std::move(difference.text));
    }
  }

  // --- rights ---

  // False: no code that belongs to another role may be run here. The role of `run` makes nothing, and is only
  // warned of anything less than everything.
  bool check_trust(const Config& config) {
    const std::vector<LentRight> lent = lent_rights(transaction_, config);
    if (lent.empty()) return true;
    lends_rights_ = true;
    Finding finding = to_finding(lent, config_);
    const bool is_everything =
        transaction_
            .run_once(
                "select bool_or(rolsuper) from pg_roles where rolname in (current_user, session_user)")[0][0]
            .as<bool>();
    const bool only_runs = !schema_owner_.empty() && !owns_schema_;
    if (only_runs && !is_everything) finding.severity = Severity::kWarning;
    findings_.push_back(std::move(finding));
    return !is_everything;
  }

  // The owner of Lockstep's schema, or a user who finds none, counts as the role of `apply`, which has the
  // rights of `run`. Any other role counts as the role of `run`, which need not see everything: the role of
  // `apply` has seen it.
  void check_rights() {
    if (!has_schema_ || owns_schema_) {
      const std::vector<Finding> missing = missing_for_apply();
      findings_.insert(findings_.end(), missing.begin(), missing.end());
      findings_.insert(findings_.end(), design_.denied.begin(), design_.denied.end());
    }
    if (!has_schema_) return;
    check_schema_owner();
    std::string grants;
    for (const std::string& grant : missing_grants(transaction_, design_)) grants += "\n" + grant + ";";
    if (!grants.empty()) {
      fault("role " + user_, "it lacks rights that `lockstep run` needs",
            "let the owner of the tables and of schema " + session_.schema() + " run:" + grants);
    }
  }

  void check_schema_owner() {
    if (!is_superuser(schema_owner_)) return;
    for (const auto& [name, table] : design_.tables) {
      const std::string owner =
          transaction_.run("select pg_get_userbyid($1::oid)", table.relation.owner)[0][0].c_str();
      if (is_superuser(owner)) continue;
      fault("table " + name,
            "it belongs to " + owner + ", and its triggers run with the rights of " + schema_owner_ +
                ", a superuser, so the owner can run any code as a superuser",
            remedy_by_its_owner());
      return;
    }
  }

  bool is_superuser(const std::string& role) const {
    const pqxx::result found = transaction_.run("select rolsuper from pg_roles where rolname = $1", role);
    return !found.empty() && found[0][0].as<bool>();
  }

  std::string remedy_by_its_owner() const {
    return "run `lockstep apply` once as " + schema_owner_ +
           ": it gives lockstep's schema to the owner of the tracked tables";
  }

  std::vector<Finding> missing_for_apply() const {
    std::vector<Finding> missing;
    const auto add = [&](std::string message, std::string remedy) {
      missing.push_back({Severity::kError, "role " + user_, std::move(message), std::move(remedy),
                         Finding::Cause::kServer});
    };
    const std::string quoted_user = session_.quote_name(user_);
    if (schema_owner_.empty() && !may_create_schema_) {
      add("it may not create schema " + session_.schema(),
          "grant create on database " + session_.quote_name(database_) + " to " + quoted_user);
    } else if (!schema_owner_.empty() && !owns_schema_) {
      add("schema " + session_.schema() + " belongs to " + schema_owner_,
          remedy_for_schema_of_others(quoted_user));
    }
    for (const auto& [name, table] : design_.tables) {
      std::vector<std::string> others;
      if (!table.relation.owned) others.push_back(name);
      for (const TableMember& member : table.members) {
        if (!member.owned && member.kind != 'f') others.push_back(member.name);
      }
      for (const std::string& other : others) {
        add("it does not own table " + other + ", so it cannot make triggers on it",
            remedy_for_objects_of(owner_of(other), quoted_user));
      }
    }
    return missing;
  }

  std::string remedy_for_schema_of_others(const std::string& quoted_user) const {
    if (is_superuser(schema_owner_)) return remedy_by_its_owner();
    // The other way round it would be a circle.
    const bool is_member =
        transaction_.run_once("select pg_has_role($1, current_user, 'member')", schema_owner_)[0][0]
            .as<bool>();
    if (is_member) return remedy_by_its_owner();
    return remedy_for_objects_of(schema_owner_, quoted_user);
  }

  // A membership is advised only in a role that gives no more than its own objects.
  std::string remedy_for_objects_of(const std::string& owner, const std::string& quoted_user) const {
    const std::string as_owner = "run apply as its owner: " + apply_as(owner, config_);
    const bool is_powerful =
        transaction_.run_once(postgres_sql("role_has_more_than_its_objects"), owner)[0][0].as<bool>();
    if (is_powerful) return as_owner;
    return as_owner + "; or grant " + session_.quote_name(owner) + " to " + quoted_user;
  }

  std::string owner_of(const std::string& relation) const {
    return only_row(
               transaction_.run_once("select pg_get_userbyid(relowner) from pg_class "
                                     "where oid::regclass::text = $1",
                                     relation))[0]
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
    const pqxx::row facts = only_row(transaction_.run(
        fill_placeholders(postgres_sql("table_facts"), {{"subscribed", is_subscribed_sql("c.oid")}}), oid));
    const std::string persistence = facts[0].c_str();
    if (persistence == "u") {
      warn("table " + name, "it is unlogged: a crash of the server empties it, and no trigger fires",
           "alter table " + name + " set logged, or verify after a crash");
    } else if (persistence == "t") {
      findings_.push_back({Severity::kError, "table " + name, "it is temporary", "track a table that stays"});
    }
    if (facts[3].as<bool>()) {
      warn("table " + name,
           "row security is forced on it, so the search for its documents sees only some rows",
           "run apply as a role that has bypassrls");
    }
    if (facts[4].as<bool>()) {
      warn("table " + name, "it is filled by a subscription, whose changes fire no statement trigger",
           "let source.url lead to the publisher, or run `lockstep verify --repair` after them");
    }
  }

  // Does not report a table that is not applied yet, because `apply` makes its triggers.
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
    const auto parts = applied_.parts.find(table.relation.name);
    const bool follows_parts =
        applied_.functions.contains(parts_function_name(*applied_.pipeline, table.relation.name));
    for (const TableMember& member : table.members) {
      const bool is_known_part = parts != applied_.parts.end() && parts->second.contains(member.oid);
      if (follows_parts && !is_known_part && member.owner == table.relation.owner) {
        warn("table " + member.name,
             "it is a new part of " + table.relation.name +
                 ", and has no triggers yet; a running service "
                 "makes them within seconds and looks at its rows, and `lockstep apply` does");
      } else if (member.kind != 'f') {
        check_one(member.oid, member.name, "part of " + table.relation.name + ": table ");
      }
    }
  }

  PostgresTransaction& transaction_;
  const PostgresSession& session_;
  const Config& config_;
  std::vector<Finding> findings_;
  PipelineDesign design_;
  AppliedObjects applied_;
  std::string database_;
  std::string user_;
  std::string schema_owner_;
  bool may_create_schema_ = false;
  bool owns_schema_ = false;
  bool has_schema_ = false;
  bool lends_rights_ = false;
  bool is_older_ = false;  // migrations are missing
};

}  // namespace

std::vector<Finding> check_postgres(PostgresSession& session, const Config& config) {
  std::vector<Finding> findings;
  PipelineDesign design;
  {
    PostgresTransaction transaction(session, "checking the source");
    plan_lookups_once(transaction);
    Preflight preflight(transaction, config);
    findings = preflight.check();
    design = preflight.design();
  }
  PostgresTransaction trial(session, "looking at the expressions of tracks");
  plan_lookups_once(trial);
  check_expressions(trial, design, findings);
  return findings;
}

}  // namespace lockstep
