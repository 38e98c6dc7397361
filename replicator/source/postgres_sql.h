// The statements in replicator/source/sql/, compiled in, by file name without ".sql".
#pragma once

#include <string_view>

namespace lockstep {

/// The text of a statement; `{schema}` in it stands for lockstep's schema. Throws std::logic_error for an
/// unknown name.
std::string_view postgres_sql(std::string_view name);

}  // namespace lockstep
