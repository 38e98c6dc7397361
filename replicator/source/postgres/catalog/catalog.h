// Tables and views as PostgreSQL's catalog describes them: names that are safe to put into SQL, columns with
// the types below their domains, keys, partitions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

struct PostgresColumn {
  int number = 0;
  std::string name;
  std::string quoted;
  std::string type;  ///< as SQL writes it, below any domain, without a length
  unsigned type_oid = 0;
  std::string equality;           ///< "=", or "operator(public.=)" for a type of an extension
  bool settings_free = true;      ///< no setting of a session changes its text form
  bool has_array = true;          ///< its type has an array type
  bool deterministic = true;      ///< equal texts are the same texts
  bool computed_on_read = false;  ///< a virtual generated column: not stored
  bool fixed_width = true;
  bool nullable = true;
  int key_position = -1;  ///< position in the primary key, from 0; -1: not part of it
};

enum class TypeFamily { kInteger, kUuid, kText, kOther };

/// The kind of _id that the values of a type can be.
TypeFamily type_family(unsigned type_oid);

struct PostgresRelation {
  unsigned oid = 0;
  std::string name;    ///< schema-qualified, quoted if necessary
  std::string alias;   ///< its own name alone, quoted
  std::string schema;  ///< quoted
  std::string whole;   ///< the name of the whole table of which it is a partition; its own name otherwise
  char kind = 'r';  ///< pg_class.relkind: r table, p partitioned, v view, m materialised view, f foreign, …
  bool owned = false;  ///< the current user has the rights of its owner
  unsigned owner = 0;  ///< oid of a role
  int pages = 0;
  bool row_security = false;      ///< policies decide which rows a role sees, unless it is above them
  bool security_invoker = false;  ///< a view that reads with the rights of its reader
  std::vector<PostgresColumn> columns;

  bool is_table() const { return kind == 'r' || kind == 'p'; }
  const PostgresColumn* column(std::string_view name) const;
  const PostgresColumn* column(int number) const;
  /// The primary key's columns, in its order. Empty: the relation has none.
  std::vector<const PostgresColumn*> primary_key() const;
};

/// "table", "materialized view", … for messages.
std::string_view kind_name(char relkind);

/// The row of a result about one object. Throws Error if the object was dropped meanwhile.
pqxx::row only_row(const pqxx::result& result);

/// Until the transaction ends, a prepared statement is planned once for all parameters. A look at one object
/// costs the server less than its plan, and there are many for each table. Throws PostgresError.
void plan_lookups_once(PostgresTransaction& transaction);

/// A relation by its oid. Throws Error as only_row() does.
PostgresRelation describe_relation(PostgresTransaction& transaction, unsigned oid);

/// The kind that a name should have: for the names that find_relation() suggests, and no others.
enum class Wanted { kRelation, kTable, kView };

/// A relation of any kind by its schema-qualified name, as SQL writes it. If there is none, `fault` has the
/// reason: "there is no view "s.bookng"; did you mean s.booking?". Needs no right on the relation or its
/// schema.
std::optional<PostgresRelation> find_relation(PostgresTransaction& transaction, const std::string& name,
                                              std::string& fault, Wanted wanted = Wanted::kRelation);

struct TableMember {
  unsigned oid = 0;
  std::string name;
  char kind = 'r';
  bool owned = false;
  unsigned owner = 0;  ///< oid of a role
};

/// The partitions of a table and the tables that inherit from it, at any depth.
std::vector<TableMember> table_members(PostgresTransaction& transaction, unsigned oid);

/// The names of the tables that a table is a partition of or inherits from, at any depth.
std::vector<std::string> table_ancestors(PostgresTransaction& transaction, unsigned oid);

/// A type, or the type below it when it is a domain.
struct PostgresType {
  unsigned oid = 0;
  std::string name;  ///< as SQL writes it
  bool has_array = true;
};

/// A type by its oid. Throws Error as only_row() does.
PostgresType describe_type(PostgresTransaction& transaction, unsigned oid);

/// The server's error for a statement that it refused.
struct Complaint {
  std::string message;
  std::string sqlstate;

  bool is_missing_right() const { return sqlstate == sqlstate::kInsufficientPrivilege; }
};

/// Runs one statement in a savepoint and rolls it back. Returns the server's complaint; none: the statement
/// succeeded, and `on_success` has seen its result. Several statements count as a fault. Throws PostgresError
/// if the connection is lost or a lock is not available.
std::optional<Complaint> complaint_about(PostgresTransaction& transaction, const std::string& statement,
                                         const std::function<void(const pqxx::result&)>& on_success = {});

/// Runs several statements, one after the other, in the same way; `on_success` sees the result of the last.
std::optional<Complaint> complaint_about(PostgresTransaction& transaction,
                                         const std::vector<std::string>& statements,
                                         const std::function<void(const pqxx::result&)>& on_success = {});

}  // namespace lockstep
