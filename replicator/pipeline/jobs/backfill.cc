#include "replicator/pipeline/jobs/backfill.h"

namespace lockstep {

std::int64_t Backfill::read(SourceTransaction& transaction, StepDocuments& documents,
                            const PageLimits& limits) {
  const ViewPageEnd page = rendering_.render_page(transaction, index(), last_document(), documents,
                                                  static_cast<std::size_t>(limits.bytes), limits.documents);
  if (page.last) move_to(AfterDocument{*page.last});
  if (page.end) finish_reading();
  return static_cast<std::int64_t>(documents.size().documents);
}

}  // namespace lockstep
