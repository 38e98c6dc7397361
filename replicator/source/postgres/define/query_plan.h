// The facts in a plan's text, as `explain (format json, verbose)` prints it: which tables a query reads, and
// its comparisons.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

/// The nodes below `plan`, and itself, that read a table. They live as long as `plan`.
std::vector<const nlohmann::json*> table_reads(const nlohmann::json& plan);

/// Every condition of the plan, one a line.
std::string conditions_of(const nlohmann::json& plan);

/// The conditions of one node that reads a table: those that it reads by, and those that it checks.
std::string own_conditions_of(const nlohmann::json& read);

/// The first column of a table that must equal a value: "post_id" of "(c.post_id = p.id)" or of "(p.id =
/// c.post_id)". Empty: there is none. `alias` is the table's, unquoted.
std::string sought_column(const std::string& alias, const std::string& conditions);

/// The expression that a read compares with the values asked for ($1), without the table's alias: "((a)::text
/// || b)" of "((((x.a)::text || x.b) = ANY ($1)) AND x.c)". Empty: it compares nothing with them.
std::string asked_expression(const std::string& alias, const std::string& conditions);

/// The same, if it is made of parts of this table and of another one, which is joined. Else empty.
std::string asked_of_join(const std::string& alias, const std::string& conditions);

/// Whether an expression without its own table's alias names a column of another table.
bool names_other_table(const std::string& expression);

/// Whether `name`, as a plan has it, is the name that SQL writes as `quoted`, in quotation marks or without.
bool is_name(const std::string& name, const std::string& quoted);

}  // namespace lockstep
