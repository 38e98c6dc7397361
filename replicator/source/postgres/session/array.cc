#include "replicator/source/postgres/session/array.h"

#include <cstddef>
#include <utility>

#include "replicator/error.h"

namespace lockstep {

namespace {

void append_quoted(std::string& literal, std::string_view value) {
  if (literal.size() > 1) literal += ',';
  literal += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  literal += '"';
}

template <typename Id>
std::string numbers_literal(const std::vector<Id>& ids) {
  std::string literal = "{";
  for (const Id& id : ids) append_quoted(literal, std::to_string(id.value));
  return literal + "}";
}

}  // namespace

std::string array_literal(const std::vector<std::string>& values) {
  std::string literal = "{";
  for (const std::string& value : values) append_quoted(literal, value);
  return literal + "}";
}

std::string ids_literal(const DocumentIds& ids) {
  std::string literal = "{";
  for (const DocumentId& id : ids) append_quoted(literal, id.text);
  return literal + "}";
}

std::string ids_literal(const std::vector<CaptureId>& captures) {
  return numbers_literal(captures);
}

std::string ids_literal(const std::vector<IndexId>& indices) {
  return numbers_literal(indices);
}

// libpqxx's parser takes an apostrophe for a quotation mark, which PostgreSQL does not. No byte of a longer
// character of UTF-8 is one of the array's own, so this takes UTF-8 and other bytes alike, which a database
// of encoding SQL_ASCII may give.
std::vector<std::string> parse_array(std::string_view literal) {
  std::vector<std::string> values;
  const auto require = [&](bool is_array) {
    if (!is_array) throw Error({"reading an array of PostgreSQL", "the server has sent something else"});
  };
  require(literal.size() >= 2 && literal.front() == '{' && literal.back() == '}');
  const std::size_t end = literal.size() - 1;
  for (std::size_t at = 1; at < end; ++at) {
    std::string value;
    const bool is_quoted = literal[at] == '"';
    if (is_quoted) {
      for (++at; at < end && literal[at] != '"'; ++at) {
        if (literal[at] == '\\') ++at;
        value += literal[at];
      }
      require(at < end);
      ++at;
    } else {
      for (; at < end && literal[at] != ','; ++at) {
        require(literal[at] != '{' && literal[at] != '"' && literal[at] != '\\');
        value += literal[at];
      }
      require(!value.empty());
    }
    require(at == end || (literal[at] == ',' && at + 1 < end));
    if (is_quoted || value != "NULL") values.push_back(std::move(value));
  }
  return values;
}

std::optional<std::string_view> single_plain_value(std::string_view literal) {
  if (literal.size() <= 2 || literal.front() != '{' || literal.back() != '}') return std::nullopt;
  const std::string_view value = literal.substr(1, literal.size() - 2);
  if (value == "NULL" || value.find_first_of("{}\",\\") != std::string_view::npos) return std::nullopt;
  return value;
}

}  // namespace lockstep
