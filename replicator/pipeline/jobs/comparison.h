// Compares an index with its view, in the order of _id, and writes the documents that differ in
// Elasticsearch or are missing there.
//
// It leaves equal documents alone, although a write that is still on its way may change one of them. That
// does no harm: if the write is of this process, the tail has a later change of the document before it; if it
// is of a deposed leader, the tail repeats the changes that this leader had not acknowledged.
#pragma once

#include <optional>

#include "replicator/pipeline/jobs/page_in_hand.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/repair/view_page.h"

namespace lockstep {

class Comparison final : public RunningJob {
 public:
  using RunningJob::RunningJob;

  void look_ahead(const LookAhead& ask, const PageLimits& limits) override;

 private:
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;

  RenderedSize size_;
  PageInHand different_;
  std::optional<Compared> compared_;  // none until the first page
  std::int64_t documents_ = 0;        // of the page, until they are counted
};

}  // namespace lockstep
