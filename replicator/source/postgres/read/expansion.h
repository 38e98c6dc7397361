// Makes the lists of fan-outs beside the tail, on a connection and in a thread of its own: for hundreds of
// thousands of documents that takes a second.
//
// The list comes from a newer snapshot than the change. A document that no longer depends on the changed row
// has changed itself meanwhile, and its own tracks lead to it.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "replicator/source/outbox/job.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/side_session.h"

namespace lockstep {

class PostgresExpansion {
 public:
  /// Connects when there is something to do.
  PostgresExpansion(const SourceConfig& source, const std::string& purpose) : session_(source, purpose) {}
  /// Cancels what is being done; the next leader starts it over.
  ~PostgresExpansion();
  PostgresExpansion(const PostgresExpansion&) = delete;
  PostgresExpansion& operator=(const PostgresExpansion&) = delete;

  /// Begins to make the list of the job unless a list is being made. Returns what is known of it once it is
  /// complete and committed. Throws Error, when the list of this job could not be made; ViewError when making
  /// it would fail again.
  std::optional<FanOutList> advance(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job);

  /// The job whose list is being made.
  std::optional<JobId> job_in_hand() const { return list_.valid() ? std::optional(job_) : std::nullopt; }

 private:
  FanOutList expand(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job);
  /// Makes the list, or a part of it; returns whether that was all.
  bool expand_further(const PostgresPipeline& pipeline, const PostgresIndex& index, JobId job,
                      FanOutList& list);

  PostgresSideSession session_;
  JobId job_;  // in hand, while list_ is valid
  std::future<FanOutList> list_;
  std::map<JobId, std::future<FanOutList>> made_;  // or failed, and not asked for yet
};

}  // namespace lockstep
