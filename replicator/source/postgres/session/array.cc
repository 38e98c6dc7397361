#include "replicator/source/postgres/session/array.h"

#include <pqxx/pqxx>
#include <tuple>
#include <utility>

namespace lockstep {

std::string array_literal(const Values& values) {
  std::string literal = "{";
  for (const std::string& value : values) {
    if (literal.size() > 1) literal += ',';
    literal += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') literal += '\\';
      literal += c;
    }
    literal += '"';
  }
  return literal + "}";
}

Values parse_array(std::string_view literal) {
  Values values;
  const std::string text(literal);
  pqxx::array_parser parser(text.c_str(), pqxx::internal::encoding_group::UTF8);
  for (auto [juncture, value] = parser.get_next(); juncture != pqxx::array_parser::done;
       std::tie(juncture, value) = parser.get_next()) {
    if (juncture == pqxx::array_parser::string_value) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace lockstep
