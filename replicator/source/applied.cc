#include "replicator/source/applied.h"

#include <algorithm>

namespace lockstep {

const AppliedIndex* AppliedPipeline::find(IndexId index) const {
  const auto found = std::find_if(indices.begin(), indices.end(),
                                  [&](const AppliedIndex& each) { return each.id == index; });
  return found == indices.end() ? nullptr : &*found;
}

}  // namespace lockstep
