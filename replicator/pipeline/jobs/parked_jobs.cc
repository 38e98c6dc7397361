#include "replicator/pipeline/jobs/parked_jobs.h"

#include <algorithm>
#include <iterator>

namespace lockstep {
namespace {

// What is kept of them is in memory. Of larger jobs a further one does no harm.
constexpr std::size_t kMostDocuments = 100;
constexpr std::size_t kMostJobs = 1'000;

}  // namespace

std::vector<FoundDocument> ParkedJobs::without_job(IndexId index,
                                                   const std::vector<FoundDocument>& documents) const {
  std::vector<FoundDocument> left;
  std::ranges::copy_if(documents, std::back_inserter(left), [&](const FoundDocument& document) {
    return std::ranges::none_of(
        waiting_, [&](const auto& job) { return job.second.contains(std::pair(index, document)); });
  });
  return left;
}

void ParkedJobs::added(const std::vector<Job>& jobs, IndexId index,
                       const std::vector<FoundDocument>& documents) {
  const auto job = std::ranges::find_if(jobs, [&](const Job& each) {
    return each.index == index && each.kind == JobKind::kFanOut && is_of_parked(each);
  });
  if (job == jobs.end() || documents.size() > kMostDocuments || waiting_.size() >= kMostJobs) return;
  std::set<DocumentId> ids;
  for (const FoundDocument& document : documents) ids.insert(document.id);
  if (job->total != static_cast<std::int64_t>(ids.size())) return;  // the others are left to a sweep
  for (const FoundDocument& document : documents) waiting_[job->id].emplace(index, document);
}

}  // namespace lockstep
