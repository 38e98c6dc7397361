// Names in a row, as errors, logs and statements have them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// "a, b"; with `before` in front of each.
std::string listed(const std::vector<std::string>& names, std::string_view before = {});
std::string listed(const std::set<std::string>& names);

}  // namespace lockstep
