// "Did you mean …?": the known name that is nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other
/// ("optimal string alignment").
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The nearest of `known`, if it is at most two edits away, or for longer names a third of the name.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             const std::vector<std::string_view>& known);

}  // namespace lockstep
