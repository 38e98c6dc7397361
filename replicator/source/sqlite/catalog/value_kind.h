// The kind of a column's values in JSON. SQLite keeps any value in nearly any column, so there are two
// sources: the declared type, and the present values.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string_view>

#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/table_graph.h"

namespace lockstep {

/// The kind that the declared type promises, by SQLite's rules of affinity, and by the words for dates and
/// JSON, which have no meaning for SQLite. Of no type: kText.
ValueKind declared_kind(std::string_view type);

/// Whether a declared type means JSON.
bool is_json_type(std::string_view type);

/// The kinds of the values of one column of some rows.
class SqliteValuesSeen {
 public:
  void add(const SqliteColumn& value);

  bool empty() const { return types_.empty(); }

  /// Every value is a text of a JSON object or array.
  bool are_json() const { return texts_ > 0 && texts_ == json_ && types_.size() == 1; }

  /// The kind that takes all of them; `declared` decides if they allow it. REQUIRES: not empty.
  ValueKind kind(ValueKind declared) const;

 private:
  void add_shape(const nlohmann::json& value);

  std::set<SqliteColumn::Type> types_;  // without null
  std::set<ValueKind> shapes_;          // of JSON; of an array: of its elements
  std::int64_t texts_ = 0;
  std::int64_t json_ = 0;
  std::int64_t dates_ = 0;
};

}  // namespace lockstep
