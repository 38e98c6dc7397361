#include "replicator/pipeline/jobs/running_job.h"

#include <algorithm>
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

std::optional<Pace> RunningJob::pace(SteadyTime now) const {
  if (limited_ || read_ == 0 || read_ < job_.done) return std::nullopt;
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(now - taken_up_at_);
  return Pace{read_, std::max(took, std::chrono::milliseconds(1))};
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
