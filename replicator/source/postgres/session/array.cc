#include "replicator/source/postgres/session/array.h"

#include <pqxx/pqxx>
#include <tuple>
#include <utility>

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

std::vector<std::string> parse_array(std::string_view literal) {
  std::vector<std::string> values;
  const std::string text(literal);
  // No byte of a longer character of UTF-8 is one of the array's own, so this takes UTF-8 and other bytes
  // alike, which a database of encoding SQL_ASCII may give.
  pqxx::array_parser parser(text.c_str(), pqxx::internal::encoding_group::MONOBYTE);
  for (auto [juncture, value] = parser.get_next(); juncture != pqxx::array_parser::done;
       std::tie(juncture, value) = parser.get_next()) {
    if (juncture == pqxx::array_parser::string_value) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace lockstep
