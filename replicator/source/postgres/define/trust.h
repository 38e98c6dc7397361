// Whose code Lockstep runs, and whether its owner would get rights by it.
//
// A table, a view or a type brings code along: functions in a view, a policy or a cast. PostgreSQL runs that
// code with the reader's rights, and a trigger's function reads the table with the rights of the function's
// owner. So a role that makes such a function, or reads such a view, lends its rights to the owners of the
// tables and views that are read. `check`, `plan` and `apply` therefore continue only if the session has no
// right that these owners lack. They ask the catalog alone, before they plan or run anything
// (docs/security.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// A right that this session would lend to another role.
struct LentRight {
  std::string object;  ///< "table blog.users", which belongs to
  std::string owner;   ///< this role, quoted as the next one
  std::string role;    ///< of this session, which
  std::string right;   ///< "is a superuser", "has the rights of admin"
};

/// The rights that this session would lend to the owners of objects read by the configuration's views and
/// tracks.
std::vector<LentRight> lent_rights(PostgresTransaction& transaction, const Config& config);

/// The same for one query with the parameter $1, an array of `value_type`. Empty also for one that the server
/// refuses.
std::vector<LentRight> lent_rights(PostgresTransaction& transaction, const std::string& schema_name,
                                   const std::string& query, const std::string& value_type);

/// "shop, the owner of table blog.users, could run code with the rights of postgres, which is a superuser"
std::string in_words(const LentRight& lent);

/// in_words() for each, and the remedy.
Finding to_finding(const std::vector<LentRight>& lent, const Config& config);

/// "lockstep apply -c shop.toml --as postgresql://OWNER@/shop": the command line for `apply` as this role,
/// whose name is not quoted. Without a configuration file it has no -c.
std::string apply_as(const std::string& owner, const Config& config);

/// The steps that give Lockstep's schema and everything in it to the one owner of all tracked tables, or to
/// the schema's owner if that lends nothing: for a session that lends rights. Empty: nothing there belongs to
/// another role. Throws UsageError if the tables have several owners, or if that owner could not work with
/// what it is given.
std::vector<PlanStep> hand_over(PostgresTransaction& transaction, const Config& config);

/// The step that gives the schema, also one that is still to be made, and everything in it to the one owner
/// of all tracked tables, for a session of another role that is a member of it. Else the owner could neither
/// apply nor remove the objects of its tables. None: all belongs to that owner, or the session's role cannot
/// or need not give it.
std::optional<PlanStep> give_to_owner(PostgresTransaction& transaction, const Config& config);

}  // namespace lockstep
