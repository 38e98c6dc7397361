#include "replicator/config/faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "replicator/error.h"

namespace lockstep {

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '\n') {
      line += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      line += fmt::format("\\u{:04X}", code);
    } else {
      line += each;
    }
  }
  return line;
}

void Faults::add(int line, std::string what, const std::string& remedy) {
  std::string text = std::move(what);
  if (!remedy.empty()) text += "; " + remedy;
  faults_.push_back({line, on_one_line(text)});
}

void Faults::throw_if_any() const {
  if (faults_.empty()) return;
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Fault& left, const Fault& right) { return left.line < right.line; });
  std::string message;
  for (const Fault& fault : sorted) {
    if (!message.empty()) message += '\n';
    message += file_.string() + ":";
    if (fault.line > 0) message += std::to_string(fault.line) + ":";
    message += " " + fault.text;
  }
  throw UsageError(message);
}

}  // namespace lockstep
