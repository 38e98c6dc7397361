// How far a pipeline is: the replication loop reports it, and metrics, health, the status line and `status`
// read it. The loop writes facts only; readers derive rates from them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/delay_histogram.h"
#include "replicator/pipeline/freshness.h"
#include "replicator/source/outbox/due.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

enum class PipelineState {
  kConnecting,               ///< connecting to the source, or becoming leader
  kStandingBy,               ///< another process leads
  kBackfilling,              ///< filling a new index, and following changes meanwhile
  kFollowing,                ///< applying changes as they are committed
  kWaitingForElasticsearch,  ///< it does not answer or refuses; `reason` has its error
  kWaitingForSource,         ///< the source does not answer; `reason` has its error
};

/// The words of `status`, of its JSON and of the metrics: "connecting", "standing_by", "backfilling",
/// "following", "waiting_for_elasticsearch", "waiting_for_source".
std::string_view to_string(PipelineState state);

/// Whether a process in this state leads and replicates, or waits for Elasticsearch to do so.
bool replicates(PipelineState state);

/// The state with this word. None: there is no such state.
std::optional<PipelineState> pipeline_state(std::string_view word);

/// A job that is not finished.
struct JobStatus {
  JobId id;
  JobKind kind = JobKind::kBackfill;
  std::string reason = {};
  std::int64_t done = 0;                   ///< documents
  std::optional<std::int64_t> total = {};  ///< an estimate; none: unknown
  SteadyTime taken_up_at = {};             ///< when this process took it up
  std::string trouble = {};                ///< why it cannot continue now; empty: it can
  bool waits = false;                      ///< for a server or its index, so that it does not advance
  bool rests = false;                      ///< between two scans: only time may pass
};

/// A reading of the source.
struct Reading {
  std::string what = {};  ///< "rendering documents of posts"; empty: nothing that may take long
  SteadyTime since = {};
};

/// Counters count since the process began.
struct IndexProgress {
  std::string alias = {};
  std::int64_t documents = 0;        ///< written
  std::int64_t deletes = 0;          ///< deleted
  std::int64_t superseded = 0;       ///< writes and deletes that found a newer version of ours
  std::int64_t foreign = 0;          ///< writes and deletes that found a version of another program
  std::int64_t refused = 0;          ///< writes and deletes that Elasticsearch refused for good
  std::int64_t dead_letters = 0;     ///< in the source now
  std::int64_t pending = 0;          ///< writes that are read and have no outcome
  bool set_aside = false;            ///< its view or a job cannot be read, so it is not followed
  std::vector<JobStatus> jobs = {};  ///< not finished, oldest first
  std::optional<DueList> due = {};   ///< its due documents, as of due_known_at; none: nothing is due
  SteadyTime due_known_at{};
  std::int64_t due_written = 0;  ///< due documents that this process has rendered
  std::vector<JobId> unreadable_jobs = {};
};

/// A snapshot, by value. Counters count since the process began: a loop that starts again continues from
/// them. While `lag_known_at` is {}, lag, pending, outbox_bytes, and an index's dead letters and set_aside
/// are the source's account of the pipeline; while this process stands by, warnings and freshness, too.
struct ReplicationProgress {
  PipelineState state = PipelineState::kConnecting;
  std::string reason;  ///< why it waits, in one line; empty if it does not
  /// Standing by: why no process is known to run the pipeline, in one line; empty: one does.
  std::string unled = {};
  /// Standing by: the state that the process that leads reports, and why it waits. None: no leader is known,
  /// or this version does not know its state.
  std::optional<PipelineState> leader_state = {};
  std::string leader_reason = {};
  Epoch epoch;  ///< of this leadership; 0: never led

  std::map<IndexId, IndexProgress> indices;
  /// Documents a second of the jobs that advance, as measured over the last minute at most, in this
  /// leadership; likewise of due documents.
  std::map<JobId, double> job_rates = {};
  std::map<IndexId, double> due_rates = {};
  /// Those that are not over, by alias: why each waits; empty: it does not. None while this process does not
  /// lead.
  std::map<std::string, std::string> reindexes = {};

  std::int64_t rows = 0;            ///< outbox rows consumed
  std::int64_t batches = 0;         ///< batches closed
  bool pending = false;             ///< some work is read and not acknowledged, or more is visible
  std::chrono::microseconds lag{};  ///< age of the oldest row that is not acknowledged; 0: nothing is pending
  SteadyTime lag_known_at{};        ///< when the loop measured `lag`; {}: it has not begun to go round
  /// How well `[slo] lag` was met; none: there is no such objective, or nothing is known yet.
  std::optional<FreshnessReport> freshness = {};

  /// From the time at which a row of the outbox was written, as long as the oldest of its step.
  DelayHistogram acknowledged;
  DelayHistogram searchable;  ///< only if Lockstep refreshes: otherwise it does not learn when

  std::int64_t outbox_bytes = 0;           ///< on disk
  std::int64_t outbox_max_bytes = 0;       ///< replication.max_outbox_size; 0: no limit
  std::vector<std::string> warnings = {};  ///< changes in the source since the last `apply`, in words
  /// Of rows of the outbox that this process has passed, and whose capture no table has.
  std::set<CaptureId> unknown_captures = {};
  /// This process leads, or led when it failed.
  bool leads = false;
  /// Why this process ends unasked; empty: it does not.
  std::string fatal = {};

  std::int64_t bulk_requests = 0;  ///< finished
  std::int64_t bulk_bytes = 0;     ///< of finished requests
  std::int64_t bulk_retries = 0;
  int bulks_in_flight = 0;
  int most_bulks_in_flight = 0;      ///< that Elasticsearch seems to take now
  std::int64_t most_bulk_bytes = 0;  ///< of a request, likewise

  Reading loop_reads = {};  ///< the loop's present wait
  Reading job_reads = {};   ///< a job, next to the loop
  /// The long ones of these, their cause and the remedy, in one line; empty: there are none.
  std::string slow_reading = {};
  SteadyTime slow_since = {};  ///< when that began; {}: nothing takes long

  /// When the loop last went round: it asked the source, took an outcome, or tried an absent server again. A
  /// loop that hangs leaves it behind. The watchdog and /healthz judge by it.
  SteadyTime turned_at{};
  /// When work last went forward: the checkpoint moved, a job advanced, or the source reported nothing
  /// pending and the jobs rest. A loop that turns without advancing leaves it behind. /readyz judges by it.
  SteadyTime advanced_at{};
};

/// Why it waits, or its long reading of the source; empty: neither.
std::string why_it_waits(const ReplicationProgress& progress);

/// Documents written and deleted by this process, in all indices.
std::int64_t documents_applied(const ReplicationProgress& progress);

/// Whether everything committed longer ago than `objective` is in Elasticsearch, as far as this process
/// knows: it replicates, no index is paused, and no change, due document or job that repairs documents is
/// older. The backfill of a new index is not such a job: its documents were not there before.
bool is_fresh(const ReplicationProgress& progress, std::chrono::milliseconds objective, SteadyTime now);

/// The JSON that the leader puts into pipeline_status.document; docs/monitoring.md names its keys. The caller
/// measures `documents_per_second`, and gives its notes of the objective if it has one.
std::string status_document(const ReplicationProgress& progress, double documents_per_second,
                            const std::optional<Freshness>& freshness = std::nullopt);

/// Where the loop leaves its progress. Thread-safe.
class ProgressBoard {
 public:
  /// Changes the progress in place, under the board's lock. `change` must be short and must not wait.
  void update(const std::function<void(ReplicationProgress&)>& change);

  ReplicationProgress read() const;

 private:
  mutable Mutex mutex_;
  ReplicationProgress progress_ LOCKSTEP_GUARDED_BY(mutex_);
};

/// Shows on the board the current reading of the source, for as long as it lives.
class ReadingNote {
 public:
  /// `slot` is loop_reads or job_reads. `board` must outlive this.
  ReadingNote(ProgressBoard& board, Reading ReplicationProgress::*slot, const std::string& what);
  ~ReadingNote();
  ReadingNote(const ReadingNote&) = delete;
  ReadingNote& operator=(const ReadingNote&) = delete;

 private:
  ProgressBoard& board_;
  Reading ReplicationProgress::*const slot_;
};

}  // namespace lockstep
