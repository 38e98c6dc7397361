#include "replicator/source/sqlite/session/statement.h"

#include <sqlite3.h>

#include <utility>

namespace lockstep {

SqliteColumn::Type SqliteColumn::type() const {
  switch (sqlite3_column_type(statement_, number_)) {
    case SQLITE_INTEGER:
      return Type::kInteger;
    case SQLITE_FLOAT:
      return Type::kReal;
    case SQLITE_TEXT:
      return Type::kText;
    case SQLITE_BLOB:
      return Type::kBlob;
    default:
      return Type::kNull;
  }
}

std::string SqliteColumn::name() const {
  return sqlite3_column_name(statement_, number_);
}

std::int64_t SqliteColumn::integer() const {
  return sqlite3_column_int64(statement_, number_);
}

double SqliteColumn::real() const {
  return sqlite3_column_double(statement_, number_);
}

std::string_view SqliteColumn::text() const {
  // sqlite3_column_blob() would give a text in the encoding of the file.
  const void* const bytes = type() == Type::kBlob
                                ? sqlite3_column_blob(statement_, number_)
                                : static_cast<const void*>(sqlite3_column_text(statement_, number_));
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, number_))};
}

std::optional<std::string> SqliteColumn::optional_text() const {
  return is_null() ? std::nullopt : std::optional<std::string>(text());
}

std::optional<std::int64_t> SqliteColumn::optional_integer() const {
  return is_null() ? std::nullopt : std::optional(integer());
}

SqliteStatement::SqliteStatement(SqliteConnection& connection, std::string_view doing, std::string text,
                                 Prepared)
    : connection_(connection),
      doing_(doing),
      text_(std::move(text)),
      statement_(connection.take(doing, text_)) {}

SqliteStatement::~SqliteStatement() {
  connection_.give_back(text_, statement_);
}

void SqliteStatement::bind(int number, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, number, value);
  if (code != SQLITE_OK) throw sqlite_error(doing_, connection_.handle(), code);
}

void SqliteStatement::bind(int number, std::string_view value) {
  const char* const bytes = value.data() == nullptr ? "" : value.data();  // a null pointer would be null
  const int code =
      sqlite3_bind_text64(statement_, number, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) throw sqlite_error(doing_, connection_.handle(), code);
}

void SqliteStatement::bind_stored(int number, std::string_view bytes, SqliteEncoding encoding) {
  const int code = sqlite3_bind_text64(statement_, number, bytes.data(), bytes.size(), SQLITE_TRANSIENT,
                                       static_cast<unsigned char>(encoding));
  if (code != SQLITE_OK) throw sqlite_error(doing_, connection_.handle(), code);
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw sqlite_error(doing_, connection_.handle(), code);
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_);
}

int SqliteStatement::columns() const {
  return sqlite3_column_count(statement_);
}

std::int64_t stored_integer(const SqliteColumn& column, std::string_view table) {
  if (column.is_null()) throw null_column(table, column.name());
  return column.integer();
}

std::string stored_text(const SqliteColumn& column, std::string_view table) {
  if (column.is_null()) throw null_column(table, column.name());
  return std::string(column.text());
}

}  // namespace lockstep
