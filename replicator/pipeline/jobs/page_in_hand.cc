#include "replicator/pipeline/jobs/page_in_hand.h"

#include <utility>

namespace lockstep {

void PageInHand::take(DocumentIds ids, JobPosition behind, bool is_last) {
  left_over_ = std::move(ids);
  behind_ = std::move(behind);
  is_last_ = is_last;
}

std::int64_t PageInHand::render(SourceTransaction& transaction, const AppliedIndex& index,
                                StepDocuments& documents, std::int64_t bytes, const DocumentSink& sink) {
  const std::size_t before = left_over_.size();
  rendering_.render(transaction, index, left_over_, documents, static_cast<std::size_t>(bytes),
                    static_cast<std::int64_t>(before), sink);
  return static_cast<std::int64_t>(before - left_over_.size());
}

}  // namespace lockstep
