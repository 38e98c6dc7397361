// Values that would not come out of json_each() as they went into a JSON array: texts with NUL, at which
// older SQLite cuts them, texts that are not UTF-8, infinite numbers, blobs. In Lockstep's own arrays they
// are marked texts, and its SQL function lockstep_value() restores these. It gives back every other value as
// it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

struct sqlite3;

namespace lockstep {

/// The values of a JSON array of exact values, the parameter ?1 of a statement of Lockstep's own.
inline constexpr std::string_view kExactValues = "select lockstep_value(value) from json_each(?1)";

/// Makes the function lockstep_value(). Throws SqliteError.
void add_exact_value_function(sqlite3* database);

/// Append a value to a JSON array of exact values.
void append_exact_text(std::string& json, std::string_view text);
void append_exact_blob(std::string& json, std::string_view bytes);
void append_exact_infinity(std::string& json, double infinity);

/// The text that a string of such an array encodes; of an infinite number as id_text() has it. Throws Error
/// for a mark that this Lockstep does not know.
std::string exact_text(std::string text);

/// Whether a query makes its values exact again.
bool reads_exact_values(std::string_view query);
/// The array for a query that does not, as well as JSON can have it. None: it has a text with NUL.
std::optional<std::string> as_plain_json(std::string_view exact);

/// "Infinity" or "-Infinity".
std::string_view infinity_text(double infinity);

}  // namespace lockstep
