// One use of a prepared statement: its parameters, then its rows. It goes back to the connection at the end
// of its scope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "replicator/source/sqlite/session/connection.h"
#include "replicator/unknown_value.h"

namespace lockstep {

/// A value that a trigger, a view or Lockstep has stored, in a row of a statement. Texts live until the
/// statement's next step.
class SqliteColumn {
 public:
  enum class Type { kInteger, kReal, kText, kBlob, kNull };

  SqliteColumn(sqlite3_stmt* statement, int number) : statement_(statement), number_(number) {}

  Type type() const;
  bool is_null() const { return type() == Type::kNull; }
  /// The name that the statement gives it.
  std::string name() const;

  std::int64_t integer() const;
  double real() const;
  /// Of a text its bytes in UTF-8, unless the file has others; of a blob its bytes.
  std::string_view text() const;
  std::optional<std::string> optional_text() const;
  std::optional<std::int64_t> optional_integer() const;

 private:
  sqlite3_stmt* statement_;
  int number_;
};

/// A statement in which nothing is filled in: it has texts of the user's or of the application's.
struct SqliteText {
  std::string text;
};

class SqliteStatement {
 public:
  /// `{schema}` in `statement` is filled in; the parameters are ?1, ?2 and so on. Texts are copied, none is
  /// null. REQUIRES: `connection` outlives it. Throws SqliteError.
  template <typename... Parameters>
  SqliteStatement(SqliteConnection& connection, std::string_view doing, std::string_view statement,
                  const Parameters&... parameters)
      : SqliteStatement(connection, doing, connection.sql(statement), Prepared{}) {
    int number = 0;
    (bind(++number, parameters), ...);
  }
  template <typename... Parameters>
  SqliteStatement(SqliteConnection& connection, std::string_view doing, SqliteText statement,
                  const Parameters&... parameters)
      : SqliteStatement(connection, doing, std::move(statement.text), Prepared{}) {
    int number = 0;
    (bind(++number, parameters), ...);
  }
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind(int number, std::int64_t value);
  void bind(int number, int value) { bind(number, static_cast<std::int64_t>(value)); }
  void bind(int number, std::string_view value);
  /// A text, from the bytes that a file of this encoding has of it.
  void bind_stored(int number, std::string_view bytes, SqliteEncoding encoding);
  void bind(int number, const std::string& value) { bind(number, std::string_view(value)); }
  void bind(int number, const char* value) { bind(number, std::string_view(value)); }
  template <typename Value>
  void bind(int number, const std::optional<Value>& value) {
    if (value) bind(number, *value);
  }

  /// Whether there is another row. Throws SqliteError.
  bool step();

  /// Runs it to its end.
  void run() {
    while (step()) continue;
  }

  /// Lets it run again with other parameters.
  void reset();

  int columns() const;
  SqliteColumn operator[](int column) const { return {statement_, column}; }

 private:
  struct Prepared {};
  SqliteStatement(SqliteConnection& connection, std::string_view doing, std::string text, Prepared);

  SqliteConnection& connection_;
  const std::string doing_;
  const std::string text_;
  sqlite3_stmt* statement_;
};

/// Values of Lockstep's own tables, in columns that are never null. Throw Error (null_column), naming
/// `table`.
std::int64_t stored_integer(const SqliteColumn& column, std::string_view table);
std::string stored_text(const SqliteColumn& column, std::string_view table);

}  // namespace lockstep
