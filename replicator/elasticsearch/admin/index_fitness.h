// What no index may have that lockstep follows, whoever set it: the mapping file, an index template, a
// person, or whoever made an index that is adopted. Documents would not stay as they are written, or no
// comparison with their view and no search would find them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct UnfitIndex {
  std::string problem;  ///< what the index has: "the lifecycle policy weekly, which …"
  std::string remedy;
};

/// None: an index with these mappings and flat settings may be followed.
std::optional<UnfitIndex> why_unfit(const nlohmann::json& mappings, const nlohmann::json& settings);

}  // namespace lockstep
