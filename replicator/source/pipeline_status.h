// What the source knows about a pipeline without leading it: for `status`, whoever runs the pipeline,
// wherever.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/config/config.h"

namespace lockstep {

/// What the leader last said of itself.
struct LeaderReport {
  std::string state;  ///< as published, e.g. "following" or "stopped"
  std::string reason;
  std::string host;
  int pid = 0;
  std::string started_at;           ///< ISO 8601 with UTC offset
  std::chrono::milliseconds age{};  ///< since it said so
  std::string document;             ///< JSON, its counters
};

struct IndexStatus {
  std::string alias;
  std::string view;
  std::int64_t dead_letters = 0;
  std::string set_aside = {};  ///< why it is not followed; empty: it is

  struct Job {
    std::string kind;  ///< "backfill", "comparison", "fan_out", "sweep"
    std::string reason;
    std::int64_t done = 0;
    std::optional<std::int64_t> total = {};
    std::chrono::milliseconds age{};  ///< since it was added
  };
  std::vector<Job> jobs;  ///< not finished, oldest first
};

struct PipelineStatus {
  std::string identity;
  std::int64_t epoch = 0;
  std::chrono::milliseconds checkpoint_age{};  ///< since the checkpoint was last written
  std::int64_t pending_rows = 0;  ///< of the outbox, not acknowledged; counted up to kMaxPendingRows
  std::chrono::milliseconds pending_age{};       ///< of the oldest of them
  std::int64_t outbox_bytes = 0;                 ///< on disk
  std::optional<std::int64_t> max_outbox_bytes;  ///< none: no limit
  bool given_up = false;                         ///< changes were left out since the outbox was full
  std::optional<LeaderReport> leader;            ///< none: the pipeline has never run
  std::vector<IndexStatus> indices;
};

inline constexpr std::int64_t kMaxPendingRows = 100'000;

class StatusReader {
 public:
  virtual ~StatusReader() = default;

  /// None when the pipeline has not been applied. From one snapshot. Throws Error.
  virtual std::optional<PipelineStatus> read() = 0;
};

/// Connects. Throws Error when the source cannot be reached, UsageError when it is of a kind that this build
/// does not know.
std::unique_ptr<StatusReader> open_status_reader(const Config& config);

}  // namespace lockstep
