// Which work Elasticsearch has acknowledged, and so how far the checkpoint may move.
//
// Work comes in lanes (the tail, each job, and the due documents of each index). A lane's work comes in
// steps, and a step's documents in one or more bulk requests. Promise 1 rests on these:
//
// A1. A step is complete when each of its bulks has come back with an outcome for every item.
//
// A2. A lane's position is the one of the last step before its first incomplete step.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "replicator/clock.h"
#include "replicator/pipeline/delay_histogram.h"
#include "replicator/source/outbox/acknowledged.h"

namespace lockstep {

/// The tail, a job, or an index's due documents.
struct Lane {
  std::optional<JobId> job = {};
  std::optional<IndexId> due = {};
  static Lane tail() { return {}; }
  static Lane of(JobId job) { return {job, {}}; }
  static Lane due_of(IndexId index) { return {{}, index}; }
  auto operator<=>(const Lane&) const = default;
};

/// Takes effect once a step and all steps before it are complete.
struct StepEnd {
  std::optional<Position> position;     ///< of the tail; none if further steps of the chunk follow
  std::optional<JobProgress> progress;  ///< of a job
  std::vector<WrittenPage> written;     ///< the finished pages of the due list
  /// An unwritten document becomes due again as of then; none: of the tail, it becomes due.
  std::optional<DueNumber> since;
  SteadyTime oldest_change{};  ///< when the oldest of the step's changes was written
  std::int64_t rows = 0;       ///< outbox rows behind it
};

struct StepId {
  Lane lane;
  std::uint64_t number = 0;
};

class Acknowledgements {
 public:
  /// Adds a step to the end of its lane. A step without bulks is complete at once.
  StepId add(Lane lane, std::size_t bulks, StepEnd end);

  /// One of the step's bulks was split. REQUIRES: the step is not complete.
  void bulk_added(StepId step);

  /// One of the step's bulks has all its outcomes.
  void bulk_done(StepId step);

  /// The number of the step's bulks that have not come back. REQUIRES: the step is not complete.
  std::size_t bulks_left(StepId step) const;

  /// Whether all steps before this one in its lane are complete. REQUIRES: the step is not complete.
  bool is_first(StepId step) const;

  /// Takes the tail's position, the jobs' progress and the pages acknowledged since the last call.
  Acknowledged take();

  /// Whether take() would return anything.
  bool has_news() const { return position_.has_value() || !jobs_.empty() || !pages_.empty(); }

  /// Steps of the lane that are not complete, or behind one that is not.
  std::size_t open(Lane lane) const;

  /// When the oldest change that is not acknowledged was written. None: all changes are acknowledged.
  std::optional<SteadyTime> oldest_change() const;

  /// How long the tail's rows of complete steps with writes took, since the last call.
  DelayHistogram take_delays();

  /// The end of a step. REQUIRES: the step is not complete.
  const StepEnd& end_of(StepId step) const;

  /// Outbox rows acknowledged since the beginning; and those behind the steps that were added.
  std::int64_t rows() const { return rows_; }
  std::int64_t rows_added() const { return rows_added_; }

 private:
  struct Step {
    std::size_t bulks = 0;  // not done yet
    StepEnd end;
    bool writes = false;
  };
  struct LaneState {
    std::uint64_t first = 0;  // number of steps.front()
    std::deque<Step> steps;
  };

  void advance(Lane lane);

  std::map<Lane, LaneState> lanes_;  // those with steps
  std::optional<Position> position_;
  std::map<JobId, JobProgress> jobs_;
  std::vector<WrittenPage> pages_;
  std::int64_t rows_ = 0;
  std::int64_t rows_added_ = 0;
  DelayHistogram delays_;
};

}  // namespace lockstep
