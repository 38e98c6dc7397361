// Elasticsearch forgets the version of a deleted document after index.gc_deletes: an older write that arrives
// later brings the document back. An old write arrives within a minute, or not at all
// (pipeline/target_watch.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct EarlyForgetting {
  std::string problem;  ///< begins with "index.gc_deletes"
  std::string remedy;
};

/// None: an index with these flat settings remembers deletions for long enough.
std::optional<EarlyForgetting> forgets_deletions_early(const nlohmann::json& settings);

}  // namespace lockstep
