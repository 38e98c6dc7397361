#include "replicator/source/postgres/catalog/catalog.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "replicator/error.h"
#include "replicator/nearest_name.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

// From pg_type.dat. These oids are part of PostgreSQL's protocol and never change.
constexpr unsigned kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25, kVarchar = 1043, kUuid = 2950;

// The server's message without "ERROR:", the position and the context.
std::string first_line(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  const std::size_t colon = line.find(":  ");
  return colon == std::string::npos ? line : line.substr(colon + 3);
}

void read_columns(PostgresTransaction& transaction, PostgresRelation& relation) {
  for (const pqxx::row& row : transaction.run(postgres_sql("relation_columns"), relation.oid)) {
    PostgresColumn column;
    column.number = row[0].as<int>();
    column.name = row[1].c_str();
    column.quoted = row[2].c_str();
    column.type = row[3].c_str();
    column.type_oid = row[4].as<unsigned>();
    column.equality = row[5].c_str();
    column.settings_free = row[6].as<bool>();
    column.has_array = row[7].as<bool>();
    column.deterministic = row[8].as<bool>();
    column.computed_on_read = row[9].as<bool>();
    column.fixed_width = row[10].as<bool>();
    column.key_position = row[11].as<int>();
    column.nullable = row[12].as<bool>();
    relation.columns.push_back(std::move(column));
  }
}

struct WantedKind {
  const char* noun;
  const char* kinds;  // pg_class.relkind
};

WantedKind kind_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::kTable:
      return {"table", "rp"};
    case Wanted::kView:
      return {"view", "v"};
    case Wanted::kRelation:
      break;
  }
  return {"table", "rpvmf"};
}

// The parts of a name, not quoted.
struct NameParts {
  std::optional<std::string> schema;
  std::string own;
};

// Those of the same name in other schemas, three at most; without any the nearest, of the same schema if
// there is one.
std::string names_alike(PostgresTransaction& transaction, const NameParts& name, const char* kinds) {
  constexpr int kMostAlike = 3;
  std::string alike;
  int alike_count = 0;
  std::map<std::string, std::string> nearby;  // the whole name by the own one
  std::map<std::string, std::string> elsewhere;
  for (const pqxx::row& row :
       transaction.run_once(postgres_sql("relation_names"), kinds, name.schema.value_or(""))) {
    (row[2].as<bool>() ? nearby : elsewhere).emplace(row[1].c_str(), row[0].c_str());
    if (row[1].c_str() == name.own && ++alike_count <= kMostAlike)
      alike += (alike.empty() ? "" : " or ") + row[0].as<std::string>();
  }
  if (!alike.empty()) return alike;
  for (const auto* const names : {&nearby, &elsewhere}) {
    std::vector<std::string_view> own_names;
    for (const auto& [own, whole] : *names) own_names.push_back(own);
    if (const auto nearest = nearest_name(name.own, own_names)) return names->at(std::string(*nearest));
  }
  return "";
}

std::string not_found(PostgresTransaction& transaction, const std::string& name, const NameParts& parts,
                      Wanted wanted) {
  const WantedKind kind = kind_of(wanted);
  const std::string alike = names_alike(transaction, parts, kind.kinds);
  const std::string what = std::string("there is no ") + kind.noun + " \"" + name + "\"";
  if (parts.schema) return what + (alike.empty() ? "" : "; did you mean " + alike + "?");
  return what + "; write it with its schema, for example " + (alike.empty() ? "public." + name : alike);
}

}  // namespace

TypeFamily type_family(unsigned type_oid) {
  switch (type_oid) {
    case kInt2:
    case kInt4:
    case kInt8:
      return TypeFamily::kInteger;
    case kUuid:
      return TypeFamily::kUuid;
    case kText:
    case kVarchar:
      return TypeFamily::kText;
    default:
      return TypeFamily::kOther;
  }
}

const PostgresColumn* PostgresRelation::column(std::string_view column_name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const PostgresColumn& column) { return column.name == column_name; });
  return found == columns.end() ? nullptr : &*found;
}

const PostgresColumn* PostgresRelation::column(int number) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const PostgresColumn& column) { return column.number == number; });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<const PostgresColumn*> PostgresRelation::primary_key() const {
  std::vector<const PostgresColumn*> key;
  for (const PostgresColumn& column : columns) {
    if (column.key_position >= 0) key.push_back(&column);
  }
  std::sort(key.begin(), key.end(), [](const PostgresColumn* left, const PostgresColumn* right) {
    return left->key_position < right->key_position;
  });
  return key;
}

std::string_view kind_name(char relkind) {
  switch (relkind) {
    case 'r':
      return "table";
    case 'p':
      return "partitioned table";
    case 'v':
      return "view";
    case 'm':
      return "materialized view";
    case 'f':
      return "foreign table";
    case 'S':
      return "sequence";
    default:
      return "relation";
  }
}

pqxx::row only_row(const pqxx::result& result) {
  if (result.size() == 1) return result[0];
  throw Error({"reading the catalog", "an object that was there a moment ago is gone", "try again",
               Retry::kLater, Server::kSource});
}

void plan_lookups_once(PostgresTransaction& transaction) {
  transaction.execute("set local plan_cache_mode = force_generic_plan");
}

PostgresRelation describe_relation(PostgresTransaction& transaction, unsigned oid) {
  const pqxx::row row = only_row(transaction.run(postgres_sql("find_relation"), oid));
  PostgresRelation relation;
  relation.oid = row[0].as<unsigned>();
  relation.name = row[1].c_str();
  relation.alias = row[2].c_str();
  relation.kind = row[3].c_str()[0];
  relation.schema = row[4].c_str();
  relation.owned = row[5].as<bool>();
  relation.pages = row[6].as<int>();
  relation.row_security = row[7].as<bool>();
  relation.security_invoker = row[8].as<bool>();
  relation.owner = row[9].as<unsigned>();
  relation.whole = row[10].c_str();
  read_columns(transaction, relation);
  return relation;
}

std::optional<PostgresRelation> find_relation(PostgresTransaction& transaction, const std::string& name,
                                              std::string& fault, Wanted wanted) {
  std::optional<unsigned> oid;
  NameParts parts;
  const std::optional<Complaint> complaint = complaint_about(
      transaction, fill_placeholders(postgres_sql("find_by_name"), {{"name", transaction.quote(name)}}),
      [&](const pqxx::result& result) {
        if (!result[0][0].is_null()) oid = result[0][0].as<unsigned>();
        parts.own = result[0][1].c_str();
        if (!result[0][2].is_null()) parts.schema = result[0][2].c_str();
      });
  if (complaint) {
    fault = std::string(kind_of(wanted).noun) + " " + name + ": " + complaint->message;
    return std::nullopt;
  }
  if (!oid) {
    fault = not_found(transaction, name, parts, wanted);
    return std::nullopt;
  }
  return describe_relation(transaction, *oid);
}

std::vector<TableMember> table_members(PostgresTransaction& transaction, unsigned oid) {
  std::vector<TableMember> members;
  for (const pqxx::row& row : transaction.run(postgres_sql("relation_members"), oid)) {
    members.push_back(
        {row[0].as<unsigned>(), row[1].c_str(), row[2].c_str()[0], row[3].as<bool>(), row[4].as<unsigned>()});
  }
  return members;
}

std::vector<std::string> table_ancestors(PostgresTransaction& transaction, unsigned oid) {
  std::vector<std::string> ancestors;
  for (const pqxx::row& row : transaction.run(postgres_sql("table_ancestors"), oid)) {
    ancestors.emplace_back(row[0].c_str());
  }
  return ancestors;
}

PostgresType describe_type(PostgresTransaction& transaction, unsigned oid) {
  const pqxx::row row = only_row(transaction.run(postgres_sql("describe_type"), oid));
  return {row[0].as<unsigned>(), row[1].c_str(), row[2].as<bool>()};
}

std::optional<Complaint> complaint_about(PostgresTransaction& transaction, const std::string& statement,
                                         const std::function<void(const pqxx::result&)>& on_success) {
  return complaint_about(transaction, std::vector<std::string>{statement}, on_success);
}

std::optional<Complaint> complaint_about(PostgresTransaction& transaction,
                                         const std::vector<std::string>& statements,
                                         const std::function<void(const pqxx::result&)>& on_success) {
  transaction.execute("savepoint trial");
  std::optional<Complaint> complaint;
  try {
    pqxx::result result;
    for (const std::string& statement : statements) result = transaction.run_once(statement);
    if (on_success) on_success(result);
  } catch (const PostgresError& error) {
    if (error.sqlstate().empty() || error.is_rollback()) throw;
    if (error.sqlstate() == sqlstate::kLockNotAvailable) throw;
    complaint = Complaint{first_line(error.message()), error.sqlstate()};
  }
  transaction.execute("rollback to savepoint trial");
  transaction.execute("release savepoint trial");
  return complaint;
}

}  // namespace lockstep
