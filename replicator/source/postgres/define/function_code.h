// The functions that `apply` makes in Lockstep's schema: their code, how they are made, and whether the
// database still has them so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/postgres/define/applied.h"
#include "replicator/source/postgres/define/triggers.h"

namespace lockstep {

/// A function in PL/pgSQL that runs with the rights of its owner.
struct FunctionCode {
  std::string name;                   ///< without the schema; needs no quotes
  std::string parameters;             ///< "bigint[]"; empty: none
  std::string returns;                ///< "trigger", "setof text"
  bool is_stable = false;             ///< it only reads
  std::vector<std::string> settings;  ///< "name=value" as pg_proc.proconfig has them, in order
  std::string body;
};

/// The function called by a table's trigger; `relation` is the table's quoted name.
FunctionCode trigger_function(int pipeline, std::string_view relation, const TriggerCode& code,
                              const std::vector<std::string>& settings, TriggerEvent event);

/// The function that reports why the triggers of a table take the fallback (triggers.h, T5).
FunctionCode check_function(int pipeline, const std::string& relation, const TriggerCode& code);

/// The function that follows the parts of a table (triggers.h, T6). `schema_name` is Lockstep's, not quoted.
FunctionCode parts_function(int pipeline, std::string_view schema_name, const std::string& relation,
                            const TriggerCode& code, const std::vector<std::string>& settings);

/// The function that leads from values of a capture to ids of documents. `query` goes from $1, an array of
/// `value_type`, to texts.
FunctionCode resolver_function(const std::string& name, const std::string& value_type,
                               const std::string& query);

/// "lockstep.resolve_c0fc51bdc3f3f43d(bigint[])"; `schema` is quoted.
std::string signature(const std::string& schema, const FunctionCode& function);

/// Makes the function, or replaces the one of its name, and revokes it from every role but its owner.
std::string create_function_sql(const std::string& schema, const FunctionCode& function);

/// Whether the database has the function as create_function_sql() makes it.
bool is_as_made(const AppliedFunction& applied, const FunctionCode& function);

/// The search_path of a function that has one, as pg_proc.proconfig has it.
inline constexpr const char* kSearchPath = "search_path=pg_catalog, pg_temp";

}  // namespace lockstep
