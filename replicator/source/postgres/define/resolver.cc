#include "replicator/source/postgres/define/resolver.h"

#include <optional>
#include <utility>

#include "replicator/source/postgres/define/trust.h"

namespace lockstep {
namespace {

constexpr const char* kRunProbe = "execute lockstep_resolver_probe('{}')";
constexpr const char* kForgetProbe = "deallocate lockstep_resolver_probe";

std::string prepare_probe(const std::string& query, const std::string& value_type) {
  return "prepare lockstep_resolver_probe(" + value_type + "[]) as " + query;
}

// The server's objection to a query with the parameter $1. Needs no right on the tables that the query reads.
std::optional<Complaint> refusal_of(PostgresTransaction& transaction, const std::string& query,
                                    const std::string& value_type) {
  std::optional<Complaint> refusal = complaint_about(transaction, prepare_probe(query, value_type));
  // A prepared statement outlives the savepoint.
  if (!refusal) transaction.execute(kForgetProbe);
  return refusal;
}

struct QueryColumns {
  int count = 0;
  unsigned first_type = 0;
};

// REQUIRES: refusal_of() found nothing, and the query ends with "limit 0".
std::optional<Complaint> columns_of(PostgresTransaction& transaction, const std::string& query,
                                    const std::string& value_type, QueryColumns& columns) {
  std::optional<Complaint> complaint = complaint_about(
      transaction, {prepare_probe(query, value_type), kRunProbe}, [&](const pqxx::result& result) {
        columns.count = static_cast<int>(result.columns());
        if (columns.count > 0) columns.first_type = result.column_type(0);
      });
  transaction.execute(kForgetProbe);
  return complaint;
}

// --- the values are the ids ---

Resolver from_values(const ResolverRequest& request) {
  Resolver resolver;
  const TypeFamily values = request.value_family;
  const TypeFamily ids = type_family(request.id.type_oid);
  if (values != ids && ids != TypeFamily::kText) {
    resolver.fault = "the values are of type " + request.value_type + ", but _id of " + request.view.name +
                     " is of type " + request.id.type;
    resolver.remedy =
        "give the way from one to the other: row = \"…\" for another value, column = \"…\" for another "
        "column of the view, or keys = \"select … = any($1)\"";
    return resolver;
  }
  if (ids == TypeFamily::kInteger && request.value_type != request.id.type && request.id.type != "bigint") {
    // Values that are out of the _id's range lead nowhere; they are no fault of their rows.
    const std::string bits = request.id.type == "smallint" ? "32768" : "2147483648";
    resolver.query = "select v.value::text from unnest($1) as v(value) where v.value >= -" + bits +
                     " and v.value < " + bits;
  }
  return resolver;
}

// --- through a column ---

Resolver from_column(PostgresTransaction& transaction, const ResolverRequest& request) {
  Resolver resolver;
  const PostgresColumn* column = request.view.column(request.column);
  if (column == nullptr) {
    resolver.fault = "column: view " + request.view.name + " has no column " + request.column;
    resolver.remedy = "add it to the view; one whose name begins with _ stays out of the documents";
    return resolver;
  }
  std::string from = request.view.name;
  std::string id_name = request.id.quoted;
  const PostgresColumn* matched = column;
  PostgresRelation base;
  const auto origin = request.links ? common_origin(*request.links, column->number) : std::nullopt;
  if (origin && describe_relation(transaction, origin->table).is_table()) {
    base = describe_relation(transaction, origin->table);
    matched = base.column(origin->column);
    id_name = base.column(origin->id_column)->quoted;
    from = base.name;
  } else {
    resolver.through_view = true;
    resolver.warning =
        "column: _id and " + request.column + " of view " + request.view.name +
        " do not come from one row of one table, so the view itself is asked; a document that a change "
        "takes out of the view is not found any more";
    resolver.remedy = "if that can happen, find the documents in tables with keys = \"select … = any($1)\"";
  }
  resolver.query = "select (d." + id_name + ")::text from " + from + " as d where d." + matched->quoted +
                   " " + matched->equality + " any($1) and (d." + id_name + ")::text is not null";
  const auto refusal = refusal_of(transaction, resolver.query, request.value_type);
  if (refusal && !refusal->is_missing_right()) {
    resolver.fault = "column: " + request.column + " of view " + request.view.name + " is of type " +
                     column->type + ", the values are of type " + request.value_type + " (" +
                     refusal->message + ")";
    resolver.remedy = "cast it in the view, or cast the value with row = \"…\"";
  }
  return resolver;
}

// --- through the user's query ---

Resolver from_keys(PostgresTransaction& transaction, const ResolverRequest& request) {
  Resolver resolver;
  // The line break keeps a comment at the end from swallowing the bracket.
  const std::string derived = "(\n" + without_semicolon(request.keys) + "\n)";
  resolver.query = "select (q.k)::text from " + derived + " as q(k) where q.k is not null";
  const std::string probe = "select * from " + derived + " as q limit 0";
  QueryColumns columns;
  if (const auto refusal = refusal_of(transaction, probe, request.value_type)) {
    resolver.fault = "keys: " + refusal->message;
    resolver.is_missing_right = refusal->is_missing_right();
    resolver.remedy = "it must be a query with the parameter $1 of type " + request.value_type +
                      "[], and name tables, functions and types with their schemas";
    return resolver;
  }
  // It was parsed, and runs below.
  const std::vector<LentRight> lent =
      lent_rights(transaction, request.schema_name, probe, request.value_type);
  if (!lent.empty()) {
    resolver.fault = "keys: " + in_words(lent.front());
    resolver.remedy = "run it as the owner of the tables that the query reads";
    return resolver;
  }
  if (const auto complaint = columns_of(transaction, probe, request.value_type, columns)) {
    resolver.fault = "keys: " + complaint->message;
    resolver.is_missing_right = complaint->is_missing_right();
    resolver.remedy = "it must use the parameter $1 and no other, and be ready for an empty array";
    return resolver;
  }
  if (columns.count != 1) {
    resolver.fault = "keys: the query has " + std::to_string(columns.count) + " columns";
    resolver.remedy = "let it return one, the _id of the documents";
    return resolver;
  }
  const PostgresType type = describe_type(transaction, columns.first_type);
  const TypeFamily ids = type_family(request.id.type_oid);
  const TypeFamily keys = type_family(type.oid);
  if (keys != ids && ids != TypeFamily::kText) {
    resolver.fault = "keys: the query returns " + type.name + ", but _id of " + request.view.name +
                     " is of type " + request.id.type;
    resolver.remedy = "let it return the _id of the documents";
    return resolver;
  }
  return resolver;
}

}  // namespace

std::string without_semicolon(const std::string& query) {
  const std::size_t end = query.find_last_not_of("; \t\r\n");
  return end == std::string::npos ? "" : query.substr(0, end + 1);
}

Resolver make_resolver(PostgresTransaction& transaction, const ResolverRequest& request) {
  if (!request.keys.empty()) return from_keys(transaction, request);
  if (!request.column.empty()) return from_column(transaction, request);
  return from_values(request);
}

}  // namespace lockstep
