// The statements in source/postgres/sql/, compiled in, by file name without ".sql".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockstep {

/// The text of a statement. `{schema}` in it stands for lockstep's schema, any other `{name}` for what
/// fill_placeholders() puts there. Throws std::logic_error for an unknown name.
std::string_view postgres_sql(std::string_view name);

/// The text behind the comment at its top. For a text that becomes part of another.
std::string_view without_comment(std::string_view text);

/// Replaces each `{name}` in a statement. Does so in one pass: replaces nothing inside of a value. Throws
/// std::logic_error for a name without a value.
std::string fill_placeholders(std::string_view statement,
                              const std::map<std::string_view, std::string_view>& values);

}  // namespace lockstep
