#include "replicator/error.h"

#include <utility>

namespace lockstep {
namespace {

std::string one_line(const Error::Parts& parts) {
  std::string text = parts.doing + ": " + parts.cause;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (!parts.remedy.empty()) text += "; " + parts.remedy;
  return text;
}

}  // namespace

Error::Error(Parts parts) : std::runtime_error(one_line(parts)), parts_(std::move(parts)) {}

}  // namespace lockstep
