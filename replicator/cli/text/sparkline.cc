#include "replicator/cli/text/sparkline.h"

#include <langinfo.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace lockstep {
namespace {

constexpr std::array<const char*, 8> kUnicodeBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 8> kAsciiBars = {"_", ".", "-", "~", "=", "+", "*", "#"};

}  // namespace

Glyphs glyphs_of_terminal() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return Glyphs::kAscii;
  const bool is_utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return is_utf8 ? Glyphs::kUnicode : Glyphs::kAscii;
}

std::string sparkline(const std::deque<double>& values, double most, std::size_t columns, Glyphs glyphs) {
  const auto& bars = glyphs == Glyphs::kUnicode ? kUnicodeBars : kAsciiBars;
  std::string line;
  for (std::size_t i = values.size() - std::min(values.size(), columns); i < values.size(); ++i) {
    const double share = most > 0 ? std::clamp(values[i] / most, 0.0, 1.0) : 0;
    line += bars[static_cast<std::size_t>(std::lround(share * static_cast<double>(bars.size() - 1)))];
  }
  return line;
}

}  // namespace lockstep
