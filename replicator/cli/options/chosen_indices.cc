#include "replicator/cli/options/chosen_indices.h"

#include <algorithm>

#include "replicator/error.h"

namespace lockstep {

std::vector<const AppliedIndex*> chosen_indices(const AppliedPipeline& pipeline,
                                                const std::vector<std::string>& aliases) {
  std::vector<const AppliedIndex*> indices;
  if (aliases.empty()) {
    for (const AppliedIndex& index : pipeline.indices) indices.push_back(&index);
  }
  for (const std::string& alias : aliases) {
    const auto index = std::find_if(pipeline.indices.begin(), pipeline.indices.end(),
                                    [&](const AppliedIndex& known) { return known.alias == alias; });
    if (index == pipeline.indices.end()) {
      std::string known;
      for (const AppliedIndex& other : pipeline.indices) known += (known.empty() ? "" : ", ") + other.alias;
      throw UsageError("pipeline " + pipeline.name + " has no index \"" + alias + "\"; it has " + known);
    }
    indices.push_back(&*index);
  }
  return indices;
}

}  // namespace lockstep
