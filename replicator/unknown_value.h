// Errors for stored values with no meaning known to this Lockstep. They name the value and its place, so that
// it never becomes a default: a newer Lockstep may give it another meaning.
#pragma once

#include <string>
#include <string_view>

#include "replicator/error.h"

namespace lockstep {

/// "reading the operation web1-…: its state is "paused", which this lockstep does not know; …", for the
/// object that `what` names. An empty value is a missing one.
Error unknown_value(const std::string& what, std::string_view field, std::string_view value);

/// "reading the operation web1-…: it has no state; …"
Error missing_value(const std::string& what, std::string_view field);

/// "reading lockstep's table checkpoint: its column last_id is null, …", for a column that every lockstep
/// fills.
Error null_column(std::string_view table, std::string_view column);

/// "reading the lock /clinton: its lock_count is "many", not a whole number; …". `value` as it is stored,
/// with its quotes.
Error unfit_value(const std::string& what, std::string_view field, std::string_view value,
                  std::string_view wanted);

}  // namespace lockstep
