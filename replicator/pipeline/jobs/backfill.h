// Fills a new index: writes every document of the view, in the order of _id.
#pragma once

#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/rendering.h"

namespace lockstep {

class Backfill final : public RunningJob {
 public:
  using RunningJob::RunningJob;

 private:
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;

  Rendering rendering_;
};

}  // namespace lockstep
