// A row of numbers as a row of bars: "▁▁▂▇▃▁".
#pragma once

#include <deque>
#include <string>

namespace lockstep {

enum class Glyphs { kUnicode, kAscii };

/// The glyphs that the terminal shows, by the environment's LC_ALL, LC_CTYPE or LANG.
Glyphs glyphs_of_terminal();

/// One bar a value, of the last `columns` of them, the newest last. `most` is the full height; a larger value
/// has it, too.
std::string sparkline(const std::deque<double>& values, double most, std::size_t columns, Glyphs glyphs);

}  // namespace lockstep
