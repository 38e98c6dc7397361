#include "replicator/source/sqlite/session/exact_value.h"

#include <sqlite3.h>

#include <cstddef>
#include <limits>

#include "replicator/hex.h"
#include "replicator/json_string.h"
#include "replicator/source/sqlite/session/sqlite_error.h"
#include "replicator/unknown_value.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A marked text begins with this. Its kind follows, of a text or blob the digits of its bytes.
constexpr char kMark = '\x01';
constexpr std::string_view kOpenMarked = "\"\\u0001";  // in JSON
constexpr char kText = 't';
constexpr char kBlob = 'b';
constexpr char kPositive = '+';
constexpr char kNegative = '-';

std::string marked(char what, std::string_view bytes) {
  return std::string(kOpenMarked) + what + hex_of(bytes) + '"';
}

bool is_marked(std::string_view text) {
  return !text.empty() && text.front() == kMark;
}

struct Marked {
  char what = 0;
  std::string bytes;
};

// `text` without its kMark. None: Lockstep has not written it.
std::optional<Marked> read_marked(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char what = text.front();
  if (what != kText && what != kBlob && what != kPositive && what != kNegative) return std::nullopt;
  std::optional<std::string> bytes = bytes_of_hex(text.substr(1));
  if (!bytes) return std::nullopt;
  return Marked{what, *std::move(bytes)};
}

void call_exact_value(sqlite3_context* context, int /*arguments*/, sqlite3_value** values) {
  sqlite3_value* const value = *values;
  if (sqlite3_value_type(value) != SQLITE_TEXT) return sqlite3_result_value(context, value);
  const auto* const begin = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (begin == nullptr) return sqlite3_result_error_nomem(context);
  const std::string_view text(begin, static_cast<std::size_t>(sqlite3_value_bytes(value)));
  if (!is_marked(text)) return sqlite3_result_value(context, value);
  const std::optional<Marked> found = read_marked(text.substr(1));
  if (!found) return sqlite3_result_error(context, "a mark that this lockstep does not know", -1);
  const std::string& bytes = found->bytes;
  if (found->what == kText) {
    sqlite3_result_text64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (found->what == kBlob) {
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  } else {
    sqlite3_result_double(context, found->what == kPositive ? kInfinity : -kInfinity);
  }
}

// JSON's notation of the text behind kOpenMarked, without its quotes. None: JSON has none for it.
std::optional<std::string> plain(std::string_view text) {
  const std::optional<Marked> found = read_marked(text);
  if (!found) throw unfit_value("a value of a capture", "mark", text, "one that this lockstep knows");
  if (found->what == kPositive) return "9e999";
  if (found->what == kNegative) return "-9e999";
  if (found->what == kBlob) return '"' + hex_of(found->bytes) + '"';
  if (found->bytes.find('\0') != std::string::npos) return std::nullopt;
  std::string json;
  append_json_string(json, found->bytes);  // json_each() passes on bytes that are not UTF-8, as this does
  return json;
}

}  // namespace

void add_exact_value_function(sqlite3* database) {
  const int code = sqlite3_create_function(database, "lockstep_value", 1,
                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                                           call_exact_value, nullptr, nullptr);
  if (code != SQLITE_OK) throw sqlite_error("making an SQL function", database, code);
}

void append_exact_text(std::string& json, std::string_view text) {
  if (is_marked(text) || text.find('\0') != std::string_view::npos || !is_utf8(text)) {
    json += marked(kText, text);
  } else {
    append_json_string(json, text);
  }
}

void append_exact_blob(std::string& json, std::string_view bytes) {
  json += marked(kBlob, bytes);
}

void append_exact_infinity(std::string& json, double infinity) {
  json += marked(infinity > 0 ? kPositive : kNegative, {});
}

std::string exact_text(std::string text) {
  if (!is_marked(text)) return text;
  const std::optional<Marked> found = read_marked(std::string_view(text).substr(1));
  if (!found) throw unfit_value("a value of a capture", "mark", text, "one that this lockstep knows");
  if (found->what == kText) return found->bytes;
  if (found->what == kBlob) return hex_of(found->bytes);
  return std::string(infinity_text(found->what == kPositive ? kInfinity : -kInfinity));
}

bool reads_exact_values(std::string_view query) {
  return query.find("lockstep_value(") != std::string_view::npos;
}

std::optional<std::string> as_plain_json(std::string_view exact) {
  std::string json;
  std::size_t done = 0;
  for (std::size_t at = exact.find(kOpenMarked); at != std::string_view::npos;
       at = exact.find(kOpenMarked, at + 1)) {
    if (at > 0 && exact[at - 1] == '\\') continue;  // a quote inside of a text
    const std::size_t begin = at + kOpenMarked.size();
    const std::size_t end = exact.find('"', begin);
    const std::optional<std::string> value = plain(exact.substr(begin, end - begin));
    if (!value) return std::nullopt;
    json += exact.substr(done, at - done);
    json += *value;
    done = end + 1;
  }
  return json += exact.substr(done);
}

std::string_view infinity_text(double infinity) {
  return infinity > 0 ? "Infinity" : "-Infinity";
}

}  // namespace lockstep
