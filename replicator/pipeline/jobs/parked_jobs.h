// Which parked documents have a job already that nobody has begun. It writes what the view gives when it
// begins, so a further job would only do the same once more: a document that is refused and changes again
// and again has two jobs at most.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/ids.h"
#include "replicator/source/outbox/job.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

class ParkedJobs {
 public:
  /// The reason that such a job is given, by the reason for which its documents are parked.
  static std::string reason_for(const std::string& parked) { return kReason + parked; }

  /// Those of the parked documents that no waiting job writes.
  std::vector<FoundDocument> without_job(IndexId index, const std::vector<FoundDocument>& documents) const;

  /// A commit has added `jobs`, among them the one that add_repair() has made of these documents for
  /// reason_for().
  void added(const std::vector<Job>& jobs, IndexId index, const std::vector<FoundDocument>& documents);

  /// Whether the job was added for parked documents.
  static bool is_of_parked(const Job& job) { return job.reason.starts_with(kReason); }

  /// The job may read its documents from now on. Call it before the transaction that begins it.
  void begins(JobId job) { waiting_.erase(job); }

 private:
  static constexpr const char* kReason = "put off: ";

  std::map<JobId, std::set<std::pair<IndexId, FoundDocument>>> waiting_;
};

}  // namespace lockstep
