#include "replicator/pipeline/jobs/page_in_hand.h"

#include <utility>

namespace lockstep {

void PageInHand::take(DocumentIds ids, JobPosition behind, bool is_last) {
  left_over_ = std::move(ids);
  behind_ = std::move(behind);
  is_last_ = is_last;
}

std::int64_t PageInHand::render(SourceTransaction& transaction, const AppliedIndex& index,
                                StepDocuments& documents, std::int64_t bytes) {
  if (rendered()) return 0;
  const std::size_t before = left_over_.size();
  left_over_ =
      transaction.render_for(documents.version(), index, left_over_, bytes,
                             [&](const RenderedDocument& document) { documents.add(index, document); });
  return static_cast<std::int64_t>(before - left_over_.size());
}

}  // namespace lockstep
