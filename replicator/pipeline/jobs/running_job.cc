#include "replicator/pipeline/jobs/running_job.h"

#include <utility>

namespace lockstep {

RunningJob::RunningJob(Job job, const AppliedIndex& index)
    : job_(std::move(job)), index_(index), position_(job_.position) {
  if (std::holds_alternative<NotBegun>(position_)) position_ = Begun{};
}

JobStatus RunningJob::status() const {
  return {job_.id, job_.kind, job_.reason, job_.done + read_, job_.total, taken_up_at_};
}

void RunningJob::begin(SourceTransaction& transaction) {
  if (!std::exchange(begun_, true)) transaction.begin_job(job_.id);
}

JobProgress RunningJob::read_page(SourceTransaction& transaction, StepDocuments& documents,
                                  const PageLimits& limits) {
  const std::int64_t done = read(transaction, documents, limits);
  read_ += done;
  return {job_.id, job_.kind, position_, done, all_read_};
}

std::optional<DocumentId> RunningJob::last_document() const {
  if (std::holds_alternative<Begun>(position_)) return std::nullopt;
  return std::get<AfterDocument>(position_).id;
}

}  // namespace lockstep
