#include "replicator/elasticsearch/transport/text_encoding.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace lockstep {
namespace {

constexpr std::size_t kEscapeLength = 6;  // of \uXXXX

/// The UTF-16 code unit whose escape begins at `at`; none if no such escape does.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  if (at + kEscapeLength > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  const char* const begin = text.data() + at + 2;
  const char* const end = text.data() + at + kEscapeLength;
  unsigned unit = 0;
  const auto [stopped, fault] = std::from_chars(begin, end, unit, 16);
  if (fault != std::errc() || stopped != end) return std::nullopt;
  return unit;
}

constexpr char kUpperHex[] = "0123456789ABCDEF";

bool is_unreserved(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '~';
}

}  // namespace

std::string without_lone_surrogates(std::string_view json) {
  std::string text(json);
  for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const std::optional<unsigned> unit = escaped_unit(text, at);
    if (!unit) {
      at += 2;
      continue;
    }
    const bool is_high = *unit >= 0xD800 && *unit <= 0xDBFF;
    const bool is_low = *unit >= 0xDC00 && *unit <= 0xDFFF;
    const std::optional<unsigned> next = is_high ? escaped_unit(text, at + kEscapeLength) : std::nullopt;
    if (next && *next >= 0xDC00 && *next <= 0xDFFF) {
      at += 2 * kEscapeLength;
      continue;
    }
    if (is_high || is_low) text.replace(at, kEscapeLength, "\\ufffd");
    at += kEscapeLength;
  }
  return text;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (is_unreserved(c) || (c == '.' && i > 0)) {
      out += text[i];
    } else {
      out += '%';
      out += kUpperHex[c >> 4];
      out += kUpperHex[c & 0xf];
    }
  }
  return out;
}

}  // namespace lockstep
