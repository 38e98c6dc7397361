// Tables and views as PostgreSQL's catalog describes them: names that are safe to put into SQL, columns with
// the types that are below domains, keys, partitions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/session/session.h"

namespace lockstep {

struct PostgresColumn {
  int number = 0;
  std::string name;
  std::string quoted;
  std::string type;  ///< as SQL writes it, below any domain, without a length
  unsigned type_oid = 0;
  std::string equality;           ///< "=", or "operator(public.=)" for a type of an extension
  bool settings_free = true;      ///< its text form is the same whatever a session has set
  bool has_array = true;          ///< there is an array type of it
  bool deterministic = true;      ///< texts that are equal are the same
  bool computed_on_read = false;  ///< a virtual generated column: not stored
  bool fixed_width = true;
  int key_position = -1;  ///< place in the primary key from 0; -1: not part of it
};

enum class TypeFamily { kInteger, kUuid, kText, kOther };

/// What a document's _id can be made of.
TypeFamily type_family(unsigned type_oid);

struct PostgresRelation {
  unsigned oid = 0;
  std::string name;    ///< schema-qualified, quoted where it must be
  std::string alias;   ///< its own name alone, quoted
  std::string schema;  ///< quoted
  char kind = 'r';  ///< pg_class.relkind: r table, p partitioned, v view, m materialised view, f foreign, …
  bool owned = false;  ///< the current user may do what its owner may
  unsigned owner = 0;  ///< oid of a role
  int pages = 0;
  bool row_security = false;      ///< policies decide which rows a role sees that is not above them
  bool security_invoker = false;  ///< a view that reads with the rights of whoever asks
  std::vector<PostgresColumn> columns;

  bool is_table() const { return kind == 'r' || kind == 'p'; }
  const PostgresColumn* column(std::string_view name) const;
  const PostgresColumn* column(int number) const;
  /// The primary key's columns in its order; empty: there is none.
  std::vector<const PostgresColumn*> primary_key() const;
};

/// "table", "materialized view", … for messages.
std::string_view kind_name(char relkind);

/// A relation by oid. REQUIRES: it exists.
PostgresRelation describe_relation(pqxx::transaction_base& transaction, unsigned oid);

/// A relation by its name as SQL writes it, which must be schema-qualified; `fault` says why there is none.
/// It is found whatever rights the current user has.
std::optional<PostgresRelation> find_relation(pqxx::work& transaction, const std::string& name,
                                              std::string& fault);

struct TableMember {
  unsigned oid = 0;
  std::string name;
  char kind = 'r';
  bool owned = false;
};

/// Partitions and inheriting tables at any depth.
std::vector<TableMember> table_members(pqxx::transaction_base& transaction, unsigned oid);

/// The tables that `oid` is a partition of or inherits from, at any depth, by name.
std::vector<std::string> table_ancestors(pqxx::transaction_base& transaction, unsigned oid);

/// What the server said about a statement that it refused.
struct Complaint {
  std::string message;
  std::string sqlstate;

  bool is_missing_right() const { return sqlstate == "42501"; }
};

/// Runs one statement in a savepoint and takes it back; returns the server's complaint, or none when it went
/// well. Several statements in one text are a fault. `on_success` sees the result before that. A lost
/// connection is thrown as usual.
std::optional<Complaint> complaint_about(pqxx::work& transaction, const std::string& statement,
                                         const std::function<void(const pqxx::result&)>& on_success = {});

/// The same for several statements, one after the other.
std::optional<Complaint> complaint_about(pqxx::work& transaction, const std::vector<std::string>& statements,
                                         const std::function<void(const pqxx::result&)>& on_success = {});

}  // namespace lockstep
