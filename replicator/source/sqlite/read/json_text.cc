#include "replicator/source/sqlite/read/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "replicator/hex.h"
#include "replicator/json_string.h"
#include "replicator/source/sqlite/session/exact_value.h"
#include "replicator/unknown_value.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string real_text(double value) {
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string number(text, end);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";  // it stays a number with a fraction
  return number;
}

void append_base64(std::string& json, std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      json += k <= have ? kAlphabet[three >> (18 - 6 * k) & 63] : '=';
    }
  }
}

// One of the values of several columns. False: it is none.
bool append_part(SqliteConnection& connection, std::string& json, std::string_view part) {
  if (part.starts_with('t') || part.starts_with('b')) {
    const std::optional<std::string> bytes = bytes_of_hex(part.substr(1));
    if (!bytes) return false;
    if (part.front() == 'b') {
      json += '"' + hex_of(*bytes) + '"';
      return true;
    }
    SqliteStatement text(connection, "reading the outbox", SqliteText{"select ?1"});
    text.bind_stored(1, *bytes, connection.encoding());
    text.step();
    append_exact_text(json, text[0].text());
  } else if (part == "NULL") {
    json += "null";
  } else if (part.ends_with("Inf") || part.ends_with("9.0e+999")) {
    append_exact_infinity(json, part.starts_with('-') ? -kInfinity : kInfinity);
  } else {
    if (part.empty() || part.find_first_not_of("0123456789+-.e") != std::string_view::npos) return false;
    json += part;
  }
  return true;
}

}  // namespace

std::string id_text(double value) {
  return std::isinf(value) ? std::string(infinity_text(value)) : real_text(value);
}

void append_json_text(std::string& json, std::string_view text) {
  if (is_utf8(text))
    append_json_string(json, text);
  else
    append_json_string(json, as_utf8(text));
}

void append_json_value(std::string& json, const SqliteColumn& value) {
  switch (value.type()) {
    case SqliteColumn::Type::kInteger:
      json += std::to_string(value.integer());
      break;
    case SqliteColumn::Type::kReal:
      if (std::isinf(value.real())) {
        json += '"' + std::string(infinity_text(value.real())) + '"';
      } else {
        json += real_text(value.real());
      }
      break;
    case SqliteColumn::Type::kText:
      append_json_text(json, value.text());
      break;
    case SqliteColumn::Type::kBlob:
      json += '"';
      append_base64(json, value.text());
      json += '"';
      break;
    case SqliteColumn::Type::kNull:
      json += "null";
      break;
  }
}

std::string value_text(const SqliteColumn& value) {
  std::string json;
  switch (value.type()) {
    case SqliteColumn::Type::kBlob:
      return '"' + hex_of(value.text()) + '"';
    case SqliteColumn::Type::kText:
      append_exact_text(json, value.text());
      return json;
    case SqliteColumn::Type::kReal:
      if (!std::isinf(value.real())) return real_text(value.real());
      append_exact_infinity(json, value.real());
      return json;
    default:
      append_json_value(json, value);
      return json;
  }
}

std::optional<std::string> outbox_value_text(SqliteConnection& connection, const SqliteColumn& value,
                                             int columns) {
  if (columns == 1) return value.is_null() ? kNullValue : value_text(value);
  const std::string_view text = value.text();
  std::string json = "[";
  int parts = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (parts++ > 0) json += ',';
    if (!append_part(connection, json, text.substr(begin, end - begin))) return std::nullopt;
    begin = end + 1;
  }
  if (parts != columns) return std::nullopt;
  return json + "]";
}

std::string id_text(const SqliteColumn& value) {
  switch (value.type()) {
    case SqliteColumn::Type::kInteger:
      return std::to_string(value.integer());
    case SqliteColumn::Type::kReal:
      return id_text(value.real());
    case SqliteColumn::Type::kBlob:
      return hex_of(value.text());
    default:
      return std::string(value.text());
  }
}

std::optional<std::string> id_of_value(const std::string& value) {
  if (value.starts_with('"')) return exact_text(nlohmann::json::parse(value).get<std::string>());
  if (value.starts_with('[')) return std::nullopt;
  return value;
}

std::vector<std::string> stored_texts(const SqliteColumn& column, std::string_view table) {
  const std::string text = stored_text(column, table);
  try {
    std::vector<std::string> texts = nlohmann::json::parse(text).get<std::vector<std::string>>();
    for (std::string& each : texts) each = exact_text(std::move(each));
    return texts;
  } catch (const nlohmann::json::exception&) {
    throw unfit_value("lockstep's table " + std::string(table), column.name(), text, "a JSON array of texts");
  }
}

std::string json_array(const std::vector<std::string>& values) {
  std::string json = "[";
  for (const std::string& value : values) {
    if (json.size() > 1) json += ',';
    json += value;
  }
  return json + "]";
}

std::string json_array_of_texts(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_exact_text(json, text);
  }
  return json + "]";
}

std::string json_array_of_texts(const DocumentIds& ids) {
  std::string json = "[";
  for (const DocumentId& id : ids) {
    if (json.size() > 1) json += ',';
    append_exact_text(json, id.text);
  }
  return json + "]";
}

bool is_integer_text(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
}

bool is_real_text(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && real_text(number) == text;
}

}  // namespace lockstep
