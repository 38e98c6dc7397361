// Settings that no index may have that Lockstep follows, wherever they come from: the mapping file, an index
// template, a person, or an adopted index. Documents would not stay as they are written, or comparisons with
// their view and searches would miss them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct UnfitIndex {
  std::string problem;  ///< the index's setting: "the lifecycle policy weekly, which …"
  std::string remedy;
};

/// None: an index with these mappings and flat settings may be followed.
std::optional<UnfitIndex> why_unfit(const nlohmann::json& mappings, const nlohmann::json& settings);

}  // namespace lockstep
