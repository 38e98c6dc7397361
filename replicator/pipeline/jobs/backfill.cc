#include "replicator/pipeline/jobs/backfill.h"

namespace lockstep {

std::int64_t Backfill::read(SourceTransaction& transaction, StepDocuments& documents,
                            const PageLimits& limits) {
  const ViewPageEnd page = transaction.render_page_for(
      documents.version(), index(), last_document(), limits.documents, limits.bytes,
      [&](const RenderedDocument& document) { documents.add(index(), document); });
  if (page.last) move_to(AfterDocument{*page.last});
  if (page.end) finish_reading();
  return static_cast<std::int64_t>(documents.documents());
}

}  // namespace lockstep
