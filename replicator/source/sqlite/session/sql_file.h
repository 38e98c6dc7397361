// The statements in source/sqlite/sql/, compiled in, by name.
#pragma once

#include <string_view>

namespace lockstep {

/// The text of a statement. Its `{name}`s are filled by fill_template(); `{schema}` is the beginning of the
/// names of Lockstep's own tables. Throws std::logic_error for an unknown name.
std::string_view sqlite_sql(std::string_view name);

}  // namespace lockstep
