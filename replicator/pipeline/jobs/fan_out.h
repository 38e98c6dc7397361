// Writes the documents of a large change: a list that the source makes, and keeps in pages.
#pragma once

#include <functional>

#include "replicator/pipeline/jobs/page_in_hand.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class FanOut final : public RunningJob {
 public:
  /// `is_running` says whether the fan-out that this one waits for is still there; `on_list` is told when the
  /// list is made. The references must outlive this.
  FanOut(Job job, const AppliedIndex& index, ChangeLog& changes, std::function<bool(JobId)> is_running,
         std::function<void(FanOutList)> on_list);

  /// Lets the source make the list.
  bool is_ready() override;

  bool keeps_rows() const override { return job().keeps_rows && !job().total; }

 private:
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;

  ChangeLog& changes_;
  std::function<bool(JobId)> is_running_;
  std::function<void(FanOutList)> on_list_;
  PageInHand page_;
};

}  // namespace lockstep
