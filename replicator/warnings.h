// The warnings of `status`, each once: the code that makes one names it here, and docs/operations.md has the
// remedy of each, which a test compares.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct WarningText {
  std::string_view name;
  std::string_view text;  ///< "…" replaces a value
};

std::span<const WarningText> warning_texts();

/// The warning of this name, with these values in their order. Throws std::logic_error for a name that is not
/// there, and for more or fewer values than it has.
std::string warning(std::string_view name, const std::vector<std::string>& values);

/// The same for a row of a statement: `values` is a JSON array of texts.
std::string stored_warning(std::string_view name, std::string_view values);

}  // namespace lockstep
