// Indices of which the tail could not read something in time. For a while their changes become jobs, which
// read them beside the tail: else the tail would wait again and again for the same lock, or the same row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "replicator/clock.h"
#include "replicator/ids.h"
#include "replicator/source/applied.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

class SlowIndices {
 public:
  /// How long the tail leaves an index alone, at least: twice as long each time that it was in vain to come
  /// back, up to the longest.
  static constexpr std::chrono::seconds kFirstPause{5};
  static constexpr std::chrono::seconds kLongestPause{60};

  /// `pipeline` must outlive this.
  explicit SlowIndices(const AppliedPipeline& pipeline) : pipeline_(pipeline) {}

  bool contains(IndexId index) const { return slow_.contains(index); }
  /// Empty when it is not slow.
  std::string reason(IndexId index) const;

  /// The tail leaves the index alone from now on.
  void add(const ViewTooSlow& why, SteadyTime now);

  /// A job was added. The first one of a slow index has to be done before the tail comes back.
  void note_job(const Job& job);

  /// Takes out those whose job is done and whose time is over.
  void release(SteadyTime now, const std::function<bool(JobId)>& is_unfinished);

 private:
  struct Slow {
    std::string reason;
    SteadyTime until;
    std::optional<JobId> job = {};
  };
  struct Trial {
    int failures = 0;
    SteadyTime released_at{};
  };

  const AppliedPipeline& pipeline_;
  std::map<IndexId, Slow> slow_;
  std::map<IndexId, Trial> trials_;
};

}  // namespace lockstep
