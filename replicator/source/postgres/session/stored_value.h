// Values that Lockstep has stored in its own tables, in columns that are never null. A null there is an error
// that names table and column, never a default.
#pragma once

#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <string_view>

#include "replicator/unknown_value.h"

namespace lockstep {

/// Throws Error (null_column) if `field`, which a statement has under the name of its column in `table`, is
/// null.
inline void require_stored(const pqxx::field& field, std::string_view table) {
  if (field.is_null()) throw null_column(table, field.name());
}

/// The value of such a field. Throws Error (null_column) for null.
template <typename Value>
Value stored(const pqxx::field& field, std::string_view table) {
  require_stored(field, table);
  return field.as<Value>();
}

/// The text of a field that may be null.
inline std::optional<std::string> optional_text(const pqxx::field& field) {
  return field.is_null() ? std::nullopt : std::optional<std::string>(field.c_str());
}

}  // namespace lockstep
