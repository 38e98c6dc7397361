#include "replicator/json_string.h"

#include <array>
#include <cstddef>

namespace lockstep {
namespace {

constexpr char kHex[] = "0123456789abcdef";

constexpr std::array<bool, 256> must_be_escaped() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = true;
  table['\\'] = true;
  return table;
}

constexpr std::array<bool, 256> kMustBeEscaped = must_be_escaped();

void append_escape(std::string& out, unsigned char c) {
  out += '\\';
  switch (c) {
    case '"':
    case '\\':
      out += static_cast<char>(c);
      return;
    case '\n':
      out += 'n';
      return;
    case '\r':
      out += 'r';
      return;
    case '\t':
      out += 't';
      return;
    default:
      out += "u00";
      out += kHex[c >> 4];
      out += kHex[c & 0xf];
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!kMustBeEscaped[c]) continue;
    out.append(text, plain, i - plain);
    append_escape(out, c);
    plain = i + 1;
  }
  out.append(text, plain);
  out += '"';
}

}  // namespace lockstep
