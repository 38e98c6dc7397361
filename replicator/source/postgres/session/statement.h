// The statements in source/postgres/sql/, compiled in, by name.
#pragma once

#include <string_view>

#include "replicator/source/template.h"

namespace lockstep {

/// The text of a statement. `{schema}` in it is replaced by Lockstep's schema, any other `{name}` by
/// fill_placeholders(). Throws std::logic_error for an unknown name.
std::string_view postgres_sql(std::string_view name);

}  // namespace lockstep
