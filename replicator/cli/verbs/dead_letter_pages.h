// Reading dead letters page by page.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "replicator/source/applied.h"
#include "replicator/source/dead_letter_box.h"

namespace lockstep {

/// Dead letters read at once.
inline constexpr std::int64_t kDeadLetterPage = 1'000;

using DeadLetterPage = std::vector<StoredDeadLetter>;

/// Calls `take` with each page of the dead letters that match, in the order of index, id and routing. No page
/// is empty.
void for_each_page(DeadLetterBox& box, const DeadLetterFilter& filter,
                   const std::function<void(const DeadLetterPage&)>& take);

/// REQUIRES: the dead letter is of an index of `pipeline`.
const AppliedIndex& index_of(const AppliedPipeline& pipeline, const StoredDeadLetter& stored);

}  // namespace lockstep
