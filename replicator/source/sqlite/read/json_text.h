// Values of SQLite as JSON text and as ids of documents. SQLite's own functions give numbers 15 digits, write
// Inf as no JSON, and refuse blobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {

/// Appends the text as a JSON string. A byte that is not UTF-8 becomes U+FFFD.
void append_json_text(std::string& json, std::string_view text);

/// Appends a value of a document: a blob in base64, as Elasticsearch's type `binary` has it, and an infinite
/// number as "Infinity" or "-Infinity", as PostgreSQL has it.
void append_json_value(std::string& json, const SqliteColumn& value);

/// A value in the form in which CapturedChange has it: JSON of an exact value (exact_value.h), a blob as a
/// string of small hexadecimal digits. REQUIRES: it is not null.
std::string value_text(const SqliteColumn& value);

/// A null in that form: a value for `row` and `keys`, and no document's _id.
inline constexpr const char* kNullValue = "null";

/// The same of the outbox's value for a capture of so many columns: of several, a JSON array. None: triggers
/// do not write such a value. Throws SqliteError.
std::optional<std::string> outbox_value_text(SqliteConnection& connection, const SqliteColumn& value,
                                             int columns);

/// The id that a value represents; REQUIRES: it is not null.
std::string id_text(const SqliteColumn& value);
/// The same of a number with a fraction or an exponent.
std::string id_text(double value);
/// The same of value_text(). None: it is an array.
std::optional<std::string> id_of_value(const std::string& value);

/// The texts of a JSON array in one of Lockstep's own tables. Throws Error for anything else.
std::vector<std::string> stored_texts(const SqliteColumn& column, std::string_view table);

/// "[a,b]" of JSON texts.
std::string json_array(const std::vector<std::string>& values);
/// A JSON array of exact values.
std::string json_array_of_texts(const std::vector<std::string>& texts);
std::string json_array_of_texts(const DocumentIds& ids);

/// Whether the text is a whole number of 64 bits as SQLite would write it: "5", not "05" or "5.0".
bool is_integer_text(std::string_view text);
/// Whether it is a number with a fraction or an exponent as id_text() would write it.
bool is_real_text(std::string_view text);

}  // namespace lockstep
