// A select statement written for a tool that polls: read far enough to take out the conditions for the rows
// since the last time, and to see which columns it gives. Not a parser of SQL: a part that it does not
// understand is a fault, never a guess.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct SelectStatement {
  std::string before;                  ///< "select", "with … select distinct"
  std::vector<std::string> items;      ///< of its list, as they are written
  std::string after;                   ///< "from …", without an order at its end
  std::vector<std::string> taken_out;  ///< conditions about the last time, as they were written

  /// The columns that are called with a capital letter, in quotes.
  std::vector<std::string> capital_names() const;

  /// The expression of the item that gives a column of this name, in capital or small letters. None: no item
  /// has that name, and none is *.
  std::optional<std::string> expression_of(const std::string& column) const;
};

/// Reads `sql`, and takes out the conditions with `:parameter` and those that compare the same expression
/// with the current time. Throws UsageError, with the remedy, if the parameter is anywhere but in conditions
/// of the outermost `where` that `and` joins; if another parameter is left; and for anything but a select
/// statement.
SelectStatement read_select(const std::string& sql, const std::string& parameter);

}  // namespace lockstep
