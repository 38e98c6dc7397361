#include "replicator/pipeline/jobs/fan_out.h"

#include <utility>

namespace lockstep {

FanOut::FanOut(Job job, const AppliedIndex& index, ChangeLog& changes, std::function<bool(JobId)> is_running,
               std::function<void(FanOutList)> on_list)
    : RunningJob(std::move(job), index),
      changes_(changes),
      is_running_(std::move(is_running)),
      on_list_(std::move(on_list)) {
  if (!std::holds_alternative<AfterNumber>(position())) move_to(AfterNumber{0});
}

bool FanOut::is_ready() {
  if (job().total) return true;
  if (job().behind && is_running_(*job().behind)) return false;
  std::optional<FanOutList> list = changes_.expand(index(), job());
  if (!list) return false;
  set_total(list->documents);
  on_list_(*std::move(list));
  return true;
}

std::int64_t FanOut::read(SourceTransaction& transaction, StepDocuments& documents,
                          const PageLimits& limits) {
  if (page_.rendered()) {
    FanOutPage page = transaction.fan_out_page(id(), position(), limits.documents);
    page_.take(std::move(page.ids), std::move(page.position), page.end);
  }
  const std::int64_t rendered = page_.render(transaction, index(), documents, limits.bytes);
  if (page_.rendered()) {
    move_to(page_.behind());
    if (page_.is_last()) finish_reading();
  }
  return rendered;
}

}  // namespace lockstep
