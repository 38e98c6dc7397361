// The replication loop: the work of a pipeline's leader, readable as a list.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/pipeline/housekeeping.h"
#include "replicator/pipeline/leader_parts.h"
#include "replicator/pipeline/refusal_log.h"

namespace lockstep {

enum class RunUntil {
  kStopped,   ///< follow until `stop` is requested
  kCaughtUp,  ///< return when everything committed until then is acknowledged and no job is left
};

/// Leads a pipeline: finishes its jobs and follows its changes, in one thread. It handles the failures of
/// bulk requests itself. Its parts are there for a loop by hand. Every function may throw: Error if the
/// source or Elasticsearch's administration fails (retryable() shows whether to lead again), Deposed if
/// another process leads now, UsageError if the configuration is not the applied one.
class Leader : public LeaderParts {
 public:
  /// Becomes leader. REQUIRES: `of.source` leads (Lead::try_lead).
  explicit Leader(const LeaderWorld& of, const LeaderPatience& patience = {});
  /// On a stop request it takes the outcomes of the bulks in flight, saves the checkpoint and returns, within
  /// some seconds. Nothing may be called afterwards.
  void run(RunUntil until, const std::stop_token& stop);

  /// One turn of the loop, without waiting: true if the tail or a job found work.
  bool turn();

  /// Whether everything committed until now is acknowledged and saved, and no job is left but those of paused
  /// indices.
  bool at_rest() const;

 protected:
  /// The steps after each save of the checkpoint.
  void after_save(const Acknowledged& saved);

 private:
  std::vector<Chore> chores();
  bool take_turns();
  void stop_following(const ViewError& error);
  void stop_following(const UnreadableJob& job);
  void save_when_due();
  bool has_small_outbox() const;
  bool caught_up();
  bool has_passed_the_end();
  void wait_for_work(const std::stop_token& stop);
  void await_change(std::chrono::milliseconds check_every, std::chrono::milliseconds at_most);
  void require_filled() const;
  void finish();

  void take_jobs();
  void follow_parts();
  void note_quiet();
  void note_if_quiet();
  void require_same_revision();
  void go_on_with_reindexes();
  void limit_rates();
  void note_paces();
  void require_same_tables();
  void require_same_targets();
  void require_one_source(const std::string& later_place);
  void rise_above_foreign_versions();
  std::optional<IndexMark> mark_of(const AppliedIndex& index);
  void require_nothing_given_up();
  void take_back_readable();
  void retry_dead_letters();
  void note_progress();
  bool leaves_mark();

  void tell_refusals();

  const std::string source_tables_;
  RefusalLog refusals_;
  Housekeeping housekeeping_;
  SteadyTime followed_at_{};                     // when the tail last found work
  std::optional<Position> nothing_behind_;       // that was committed in the source, when it was waited for
  std::vector<JobRunner::Measured> measured_;    // not noted yet
  std::set<IndexId> filled_;                     // by backfills that this process has seen
  std::optional<std::int64_t> rows_to_the_end_;  // of the outbox, to where its end was once
  std::optional<SteadyTime> passed_end_at_;      // all of them are saved
  std::int64_t noted_rows_ = 0;                  // of the outbox, at the last note to the indices
};

}  // namespace lockstep
