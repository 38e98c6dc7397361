#include "replicator/source/postgres/define/trust.h"

#include <algorithm>
#include <optional>
#include <set>

#include "replicator/error.h"
#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/define/capture.h"
#include "replicator/source/postgres/define/resolver.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

using Oids = std::set<unsigned>;

constexpr const char* kForgetTrustProbe = "deallocate lockstep_trust_probe";

std::string prepared(const std::string& query, const std::string& types = {}) {
  return "prepare lockstep_trust_probe" + types + " as " + query;
}

std::string oids_literal(const Oids& oids) {
  std::string list;
  for (const unsigned oid : oids) list += (list.empty() ? "" : ",") + std::to_string(oid);
  return "{" + list + "}";
}

// Adds the reads of a statement that prepared() made: it is parsed and never run.
void add_read(PostgresTransaction& transaction, const std::string& schema_name, const std::string& prepare,
              Oids& oids) {
  const std::string relations =
      fill_placeholders(postgres_sql("relations_read"), {{"schema_name", transaction.quote(schema_name)}});
  const std::optional<Complaint> complaint =
      complaint_about(transaction, {prepare, relations}, [&](const pqxx::result& rows) {
        for (const pqxx::row& row : rows) oids.insert(row[0].as<unsigned>());
      });
  // A prepared statement outlives the savepoint.
  if (!complaint) transaction.execute(kForgetTrustProbe);
}

// Such a value is read from the table alone, so the server need not be asked what it reads.
bool is_column(const PostgresRelation& table, const std::string& row) {
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const PostgresColumn& column) {
    return column.quoted == row && !column.computed_on_read;
  });
}

void add_read(PostgresTransaction& transaction, const Config& config, const TrackConfig& track, Oids& oids) {
  std::string fault;
  const std::optional<PostgresRelation> table = find_relation(transaction, track.table, fault);
  if (!table) return;
  oids.insert(table->oid);
  // A statement on the whole table has the rows of its parts.
  for (const std::string& whole : table_ancestors(transaction, table->oid)) {
    if (const auto ancestor = find_relation(transaction, whole, fault)) oids.insert(ancestor->oid);
  }
  const auto add = [&](const std::string& query) {
    add_read(transaction, config.source.schema, prepared(query), oids);
  };
  // The line breaks keep a comment at the end from swallowing the bracket.
  if (!track.row.empty() && !is_column(*table, trimmed(track.row)))
    add("select (" + track.row + "\n) from " + table->name);
  if (!track.keys.empty()) add("select from (" + without_semicolon(track.keys) + "\n) as q");
}

// Faults of the configuration are left to its design.
Oids relations_read(PostgresTransaction& transaction, const Config& config) {
  Oids oids;
  for (const IndexConfig& index : config.indices) {
    std::string fault;
    if (const auto view = find_relation(transaction, index.view, fault)) {
      oids.insert(view->oid);
      add_read(transaction, config.source.schema, prepared("select from " + view->name), oids);
    }
    for (const TrackConfig& track : index.tracks) {
      if (!track.ignore) add_read(transaction, config, track, oids);
    }
  }
  return oids;
}

std::vector<LentRight> lent_to_owners_of(PostgresTransaction& transaction, const Oids& oids) {
  std::vector<LentRight> lent;
  for (const pqxx::row& row : transaction.run_once(postgres_sql("excess_rights"), oids_literal(oids))) {
    lent.push_back({row[0].c_str(), row[1].c_str(), row[2].c_str(), row[3].c_str()});
  }
  return lent;
}

std::string text(PostgresTransaction& transaction, const std::string& query, const std::string& parameter) {
  const pqxx::result found = transaction.run_once(query, parameter);
  return found.empty() ? "" : found[0][0].c_str();
}

// The names, not quoted. A name that SQL cannot read is left to the configuration's design.
std::set<std::string> owners_of_tables(PostgresTransaction& transaction, const Config& config) {
  std::vector<std::string> tables;
  for (const IndexConfig& index : config.indices) {
    for (const TrackConfig& track : index.tracks) {
      if (!track.ignore) tables.push_back(track.table);
    }
  }
  std::set<std::string> owners;
  complaint_about(transaction,
                  fill_placeholders(postgres_sql("owners_of_tables"),
                                    {{"names", transaction.quote(array_literal(tables)) + "::text[]"}}),
                  [&](const pqxx::result& rows) {
                    for (const pqxx::row& row : rows) owners.insert(row[0].c_str());
                  });
  return owners;
}

std::string joined(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// The schema's new owner, not quoted.
std::string heir(PostgresTransaction& transaction, const Config& config) {
  const std::string owner = text(
      transaction,
      "select r.rolname from pg_namespace as n join pg_roles as r on r.oid = n.nspowner where n.nspname = $1 "
      "and r.rolname not in (current_user, session_user) and not r.rolsuper",
      config.source.schema);
  if (!owner.empty()) return owner;
  const std::set<std::string> owners = owners_of_tables(transaction, config);
  if (owners.size() == 1) return *owners.begin();
  for (const std::string& each : owners) {
    if (!transaction.run_once(postgres_sql("role_has_more_than_its_objects"), each)[0][0].as<bool>())
      continue;
    throw UsageError(
        "source: the tracked tables belong to " + joined(owners) + ", and " + each +
        " has more rights than a schema for the others may lend; give its tables to another role: "
        "alter table … owner to …");
  }
  throw UsageError(
      "source: the tracked tables belong to " + joined(owners) + ", and schema \"" + config.source.schema +
      "\" to a role with more rights; make a role for it (create role lockstep_owner login; grant " +
      joined(owners) + " to lockstep_owner; alter schema " + transaction.session().schema() +
      " owner to lockstep_owner), and run `lockstep apply` again");
}

void require_readable_by(PostgresTransaction& transaction, const std::string& role, const Config& config) {
  Oids oids;
  for (const IndexConfig& index : config.indices) {
    for (const TrackConfig& track : index.tracks) {
      if (!track.ignore) add_read(transaction, config, track, oids);
    }
  }
  const pqxx::result missing = transaction.run_once(
      "select 'grant select on ' || string_agg(c.oid::regclass::text, ', ') || ' to ' || quote_ident($2) "
      "from "
      "pg_class as c where c.oid = any($1::oid[]) and not has_table_privilege($2, c.oid, 'select')",
      oids_literal(oids), role);
  if (missing[0][0].is_null()) return;
  throw UsageError("role " + role + ": it shall own lockstep's functions, and cannot read what they read; " +
                   missing[0][0].c_str());
}

// The configured url with another role, without parameters.
std::string url_of(const std::string& role, const Config& config) {
  const std::string url = config.source.url.substr(0, config.source.url.find('?'));
  const std::size_t authority = url.find("://");
  const std::size_t begin = authority == std::string::npos ? 0 : authority + 3;
  const std::size_t at = url.find('@', begin);
  return "postgresql://" + role + "@" + url.substr(at == std::string::npos ? begin : at + 1);
}

bool has_schema(PostgresTransaction& transaction, const Config& config) {
  return text(transaction, "select count(*) from pg_namespace where nspname = $1", config.source.schema) !=
         "0";
}

std::vector<PlanStep> steps_to(const std::string& role, PostgresTransaction& transaction,
                               const Config& config) {
  const std::string quoted = text(transaction, "select quote_ident($1)", role);
  std::vector<PlanStep> steps;
  for (const pqxx::row& row :
       transaction.run_once(postgres_sql("objects_to_hand_over"), config.source.schema, role)) {
    const std::string object = row[0].c_str();
    const bool is_schema = object.starts_with("schema ");
    steps.push_back({PlanStep::Action::kChange, "owner of " + object,
                     quoted + " instead of " + row[1].c_str() +
                         (is_schema ? "; from now on run `lockstep apply` as " + quoted : ""),
                     "alter " + object + " owner to " + quoted});
  }
  if (steps.empty()) return steps;
  require_readable_by(transaction, role, config);
  for (const pqxx::row& row :
       transaction.run_once(postgres_sql("default_grantees"), config.source.schema, role)) {
    steps.push_back({PlanStep::Action::kChange, "default privileges of " + quoted,
                     std::string(row[0].c_str()) + " may call the functions of later applies",
                     "alter default privileges for role " + quoted + " in schema " +
                         transaction.session().schema() + " grant execute on functions to " +
                         row[0].c_str()});
  }
  return steps;
}

// Empty: the session gives nothing away.
std::string owner_to_give_to(PostgresTransaction& transaction, const Config& config) {
  const std::set<std::string> owners = owners_of_tables(transaction, config);
  if (owners.size() != 1) return {};
  const pqxx::result found =
      transaction.run_once(postgres_sql("owner_of_member"), config.source.schema, *owners.begin());
  return found[0][0].as<bool>() ? *owners.begin() : "";
}

}  // namespace

std::vector<LentRight> lent_rights(PostgresTransaction& transaction, const Config& config) {
  return lent_to_owners_of(transaction, relations_read(transaction, config));
}

std::vector<LentRight> lent_rights(PostgresTransaction& transaction, const std::string& schema_name,
                                   const std::string& query, const std::string& value_type) {
  Oids oids;
  add_read(transaction, schema_name, prepared(query, "(" + value_type + "[])"), oids);
  return lent_to_owners_of(transaction, oids);
}

std::string in_words(const LentRight& lent) {
  return lent.owner + ", the owner of " + lent.object + ", could run code with the rights of " + lent.role +
         ", which " + lent.right;
}

Finding to_finding(const std::vector<LentRight>& lent, const Config& config) {
  std::string message;
  for (const LentRight& each : lent) message += (message.empty() ? "" : "; ") + in_words(each);
  return {
      Finding::Severity::kError, "role " + lent.front().role, message,
      "run it as the owner of the tables, or as a role that is a member of it and of nothing else: --as " +
          url_of(lent.front().owner, config),
      Finding::Cause::kServer};
}

std::string apply_as(const std::string& owner, const Config& config) {
  const std::string file = config.file.empty() ? "" : " -c " + config.file.string();
  return "lockstep apply" + file + " --as " + url_of(owner, config);
}

std::vector<PlanStep> hand_over(PostgresTransaction& transaction, const Config& config) {
  if (!has_schema(transaction, config)) return {};
  return steps_to(heir(transaction, config), transaction, config);
}

std::optional<PlanStep> give_to_owner(PostgresTransaction& transaction, const Config& config) {
  const std::string role = owner_to_give_to(transaction, config);
  if (role.empty()) return std::nullopt;
  const std::string quoted = text(transaction, "select quote_ident($1)", role);
  const std::string schema = "schema " + transaction.session().schema();
  PlanStep all{PlanStep::Action::kChange, "owner of " + schema + " and of its contents",
               quoted + ", the owner of the tracked tables", ""};
  if (!has_schema(transaction, config)) {
    all.sql = "alter " + schema + " owner to " + quoted;
    return all;
  }
  for (const PlanStep& step : steps_to(role, transaction, config))
    all.sql += (all.sql.empty() ? "" : ";\n") + step.sql;
  if (all.sql.empty()) return std::nullopt;
  return all;
}

}  // namespace lockstep
