#include "replicator/pipeline/jobs/running_job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "replicator/quantity.h"

namespace lockstep {

RunningJob::RunningJob(Job job, const AppliedIndex& index)
    : PagedWork(index), job_(std::move(job)), position_(job_.position) {
  if (std::holds_alternative<NotBegun>(position_)) position_ = Begun{};
}

std::string RunningJob::name() const {
  return "the " + std::string(name_of(job_.kind)) + " of " + index().alias;
}

JobStatus RunningJob::status() const {
  return {job_.id, job_.kind, job_.reason, job_.done + read_, job_.total, taken_up_at_};
}

void RunningJob::begin(SourceTransaction& transaction) {
  if (!std::exchange(begun_, true)) transaction.begin_job(job_.id);
}

std::optional<Pace> RunningJob::pace(SteadyTime now) const {
  if (limited_ || read_ == 0 || read_ < job_.done) return std::nullopt;
  return Pace{read_, std::max(age(now), std::chrono::milliseconds(1))};
}

std::chrono::milliseconds RunningJob::age(SteadyTime now) const {
  return std::chrono::ceil<std::chrono::milliseconds>(now - taken_up_at_);
}

std::string RunningJob::text_of_end(SteadyTime now) const {
  const std::int64_t here = read_;
  const std::string before = job_.done == 0 ? "" : fmt::format(", the last {} of them", grouped(here));
  return fmt::format("{} is done: {} documents{} in {:.1f} s", name(), grouped(job_.done + here), before,
                     std::chrono::duration<double>(age(now)).count());
}

PageEnd RunningJob::read_page(SourceTransaction& transaction, StepDocuments& documents,
                              const PageLimits& limits) {
  PageEnd page;
  page.documents = read(transaction, documents, limits);
  page.since = kDueBeforeAll;
  read_ += page.documents;
  page.progress = {job_.id, job_.kind, position_, page.documents, all_read_};
  const bool is_over_view = job_.kind == JobKind::kBackfill || job_.kind == JobKind::kComparison;
  if (is_over_view && !job_.total && !all_read_ && !std::exchange(has_estimated_, true))
    page.progress->total = transaction.estimate_documents(index());
  return page;
}

void RunningJob::note(const PageEnd& page) {
  if (page.progress->total) job_.total = page.progress->total;
}

std::optional<DocumentId> RunningJob::last_document() const {
  if (std::holds_alternative<Begun>(position_)) return std::nullopt;
  return std::get<AfterDocument>(position_).id;
}

}  // namespace lockstep
