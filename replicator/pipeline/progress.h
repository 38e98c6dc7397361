// How far a pipeline is: what the replication loop reports and everybody else reads (metrics, health, the
// status line, `status`). The loop writes whole facts, never derived ones; rates are for the readers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/source/source.h"

namespace lockstep {

enum class PipelineState {
  kConnecting,               ///< no connection to the source yet, or the lead is being taken
  kStandingBy,               ///< somebody else leads
  kBackfilling,              ///< a new index is being filled; changes are followed meanwhile
  kFollowing,                ///< changes are applied as they are committed
  kWaitingForElasticsearch,  ///< it doesn't answer or refuses; `reason` says why
  kWaitingForSource,         ///< the source doesn't answer; `reason` says why
};

/// The words of `status`, of its JSON and of the metrics: "connecting", "standing_by", "backfilling",
/// "following", "waiting_for_elasticsearch", "waiting_for_source".
std::string_view to_string(PipelineState state);

/// The word of `status`, of its JSON and of lockstep.job.kind: "backfill", "comparison", "fan_out",
/// "sweep".
std::string_view to_string(JobKind kind);

/// A job that is not finished.
struct JobStatus {
  std::int64_t id = 0;
  JobKind kind = JobKind::kBackfill;
  std::string reason = {};
  std::int64_t done = 0;                   ///< documents
  std::optional<std::int64_t> total = {};  ///< an estimate; none: not known
};

struct IndexProgress {
  std::string alias = {};
  std::int64_t documents = 0;        ///< index operations applied since the process began
  std::int64_t deletes = 0;          ///< delete operations applied since the process began
  std::int64_t superseded = 0;       ///< operations that found a newer version, since the process began
  std::int64_t refused = 0;          ///< operations refused for good, since the process began
  std::int64_t dead_letters = 0;     ///< in the source now
  bool set_aside = false;            ///< its view cannot be read, so it is not followed
  std::vector<JobStatus> jobs = {};  ///< not finished, oldest first
};

/// A snapshot, by value. Counters count since the process began: a loop that is started again after a lost
/// connection goes on counting from what the board has.
struct ReplicationProgress {
  PipelineState state = PipelineState::kConnecting;
  std::string reason;  ///< why it waits, in one line; empty when it doesn't
  Epoch epoch;         ///< of this leadership; 0: never led

  std::map<int, IndexProgress> indices;  ///< by lockstep.index.id

  std::int64_t rows = 0;     ///< outbox rows consumed since the process began
  std::int64_t batches = 0;  ///< batches closed since the process began
  bool pending = false;      ///< something has been read that is not acknowledged yet, or more is visible
  std::chrono::microseconds
      lag{};  ///< age of the oldest row that is not acknowledged; 0 when nothing is pending

  std::int64_t outbox_bytes = 0;  ///< on disk
  std::vector<std::string> warnings =
      {};  ///< what has changed in the source since the last `apply`, in words

  std::int64_t bulk_requests = 0;  ///< finished since the process began
  std::int64_t bulk_bytes = 0;     ///< of finished requests since the process began
  std::int64_t bulk_retries = 0;   ///< since the process began
  int bulks_in_flight = 0;
  int most_bulks_in_flight = 0;      ///< that Elasticsearch is thought to take now
  std::int64_t most_bulk_bytes = 0;  ///< of a request, likewise

  /// When the loop last went round: it has asked the source, had an outcome, or tried a server that is away
  /// once more. A loop that hangs leaves it behind; the watchdog and /healthz judge by it.
  SteadyTime turned_at{};
  /// When work last went forward: the checkpoint moved, a job got on, or the source said that nothing is
  /// pending. A loop that turns without getting anywhere leaves it behind; /readyz judges by it.
  SteadyTime advanced_at{};
};

/// The JSON that the leader puts into pipeline_status.document; docs/monitoring.md names its keys.
/// `documents_per_second` is what the caller has measured.
std::string status_document(const ReplicationProgress& progress, double documents_per_second);

/// Where the loop leaves its progress. Thread-safe.
class ProgressBoard {
 public:
  /// Changes the progress in place, under the board's lock: `change` must be short and call nothing that
  /// waits.
  void update(const std::function<void(ReplicationProgress&)>& change);

  ReplicationProgress read() const;

 private:
  mutable std::mutex mutex_;
  ReplicationProgress progress_;  // guarded by mutex_
};

}  // namespace lockstep
