#include "replicator/cli/verbs/dead_letter_pages.h"

#include <optional>

namespace lockstep {

void for_each_page(DeadLetterBox& box, const DeadLetterFilter& filter,
                   const std::function<void(const DeadLetterPage&)>& take) {
  std::optional<DeadLetter> last;
  while (true) {
    const DeadLetterPage page = box.find(filter, last, kDeadLetterPage);
    if (!page.empty()) {
      take(page);
      last = page.back().letter;
    }
    if (static_cast<std::int64_t>(page.size()) < kDeadLetterPage) return;
  }
}

const AppliedIndex& index_of(const AppliedPipeline& pipeline, const StoredDeadLetter& stored) {
  return *pipeline.find(stored.letter.index);
}

}  // namespace lockstep
