#include "replicator/source/sqlite/read/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "replicator/json_string.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string real_text(double value) {
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string number(text, end);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";  // it stays a number with a fraction
  return number;
}

std::string hex_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
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

Error not_from_a_trigger(std::string_view text) {
  return unfit_value("a row of lockstep's outbox", "value", "\"" + std::string(text) + "\"",
                     "what a trigger writes of several columns");
}

// The hexadecimal digits of t<hex> and b<hex>, as bytes.
std::string bytes_of(std::string_view digits) {
  std::string bytes;
  if (digits.size() % 2 != 0) throw not_from_a_trigger(digits);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, fault] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    if (fault != std::errc{} || end != digits.data() + i + 2) throw not_from_a_trigger(digits);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// One of the values of several columns.
void append_part(std::string& json, std::string_view part) {
  if (part.starts_with('t')) {
    append_json_text(json, bytes_of(part.substr(1)));
  } else if (part.starts_with('b')) {
    append_json_text(json, hex_text(bytes_of(part.substr(1))));
  } else if (part == "NULL") {
    json += "null";
  } else if (part.ends_with("Inf") || part.ends_with("9.0e+999")) {
    json += part.starts_with('-') ? "\"-Infinity\"" : "\"Infinity\"";
  } else {
    if (part.empty() || part.find_first_not_of("0123456789+-.e") != std::string_view::npos)
      throw not_from_a_trigger(part);
    json += part;
  }
}

}  // namespace

void append_real(std::string& text, double value) {
  text += real_text(value);
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
        json += value.real() > 0 ? "\"Infinity\"" : "\"-Infinity\"";
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
      append_json_text(json, hex_text(value.text()));
      return json;
    case SqliteColumn::Type::kReal:
      if (!std::isinf(value.real())) return real_text(value.real());
      [[fallthrough]];
    default:
      append_json_value(json, value);
      return json;
  }
}

std::string outbox_value_text(const SqliteColumn& value, int columns) {
  if (columns == 1) return value_text(value);
  const std::string_view text = value.text();
  std::string json = "[";
  int parts = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (parts++ > 0) json += ',';
    append_part(json, text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts != columns) throw not_from_a_trigger(text);
  return json + "]";
}

std::string id_text(const SqliteColumn& value) {
  switch (value.type()) {
    case SqliteColumn::Type::kInteger:
      return std::to_string(value.integer());
    case SqliteColumn::Type::kReal:
      return real_text(value.real());
    case SqliteColumn::Type::kBlob:
      return hex_text(value.text());
    default:
      return std::string(value.text());
  }
}

std::string id_of_value(const std::string& value) {
  if (value.starts_with('"')) return nlohmann::json::parse(value).get<std::string>();
  if (!value.starts_with('[')) return value;
  throw unfit_value("a value of a capture", "type", value, "one value, the _id of a document");
}

std::vector<std::string> stored_texts(const SqliteColumn& column, std::string_view table) {
  const std::string text = stored_text(column, table);
  try {
    return nlohmann::json::parse(text).get<std::vector<std::string>>();
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
    append_json_text(json, text);
  }
  return json + "]";
}

std::string json_array_of_texts(const DocumentIds& ids) {
  std::string json = "[";
  for (const DocumentId& id : ids) {
    if (json.size() > 1) json += ',';
    append_json_text(json, id.text);
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
