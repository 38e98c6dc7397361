// The source's knowledge of a pipeline: for `status`, whichever process leads, on any machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/source/outbox/due.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

/// The leader's published report about itself, for `status`.
struct PublishedStatus {
  std::string state;
  std::string reason;
  std::string document;  ///< JSON
};

/// The leader's last report about itself.
struct LeaderReport {
  std::string state;   ///< as published: "following", "stopped", …
  std::string reason;  ///< of the state; may be empty
  std::string host;
  int pid = 0;
  std::string started_at;           ///< ISO 8601 with UTC offset
  std::chrono::milliseconds age{};  ///< since the report
  std::string document;             ///< its counters, as JSON
};

/// A session that holds the leader's lock.
struct LeadHolder {
  int pid = 0;              ///< of the database's process; 0: it has none
  std::string user;         ///< quoted
  std::string application;  ///< as the session calls itself
  std::string since;        ///< when it connected, ISO 8601 in UTC; empty: not to be seen by our role
  bool is_lockstep = true;  ///< its role may lead; false: it holds the lock and does not count
};

/// "session 4711 of role app (psql), which …"; REQUIRES: it is none of Lockstep's.
std::string in_words(const LeadHolder& stranger);

struct IndexStatus {
  IndexId id = {};
  std::string alias = {};
  std::string view = {};
  std::int64_t dead_letters = 0;
  std::optional<std::string> set_aside = {};  ///< why the pipeline does not follow it; none: it does

  struct Job {
    JobId id;
    std::string kind;        ///< as stored, even when this Lockstep knows no such kind
    std::string unreadable;  ///< why it cannot be read; empty: it can
    std::string reason;
    std::int64_t done = 0;
    std::optional<std::int64_t> total = {};  ///< an estimate
  };
  std::vector<Job> jobs;  ///< not finished, oldest first

  std::optional<DueList> due = {};  ///< none: nothing is due

  /// Dead letters with the same `error.type` of Elasticsearch's.
  struct Refused {
    std::string error;
    std::int64_t documents = 0;
  };
  std::vector<Refused> refused = {};  ///< the largest first
};

/// A process that would become leader.
struct Standby {
  std::string host;   ///< the address that the database sees; empty: it is on the database's machine
  std::string since;  ///< when it connected, ISO 8601 in UTC
};

struct ReindexStatus {
  std::string alias;
  std::string state;                 ///< as stored, even when this Lockstep knows no such state
  std::string live;                  ///< the real index that the alias points to; empty: nothing was made yet
  std::string beside;                ///< the other one
  std::string wanted;                ///< by a person: "back", "finish", "abort"; empty: nothing
  std::string reason;                ///< why it waits; empty: it does not
  std::string failure;               ///< why it is taken back; empty: it is not, or the operator wants it
  std::chrono::milliseconds keep{};  ///< how long the other index is still followed
  std::optional<std::int64_t> max_rate = {};  ///< documents a second to fill it at most; none: no limit
};

struct PipelineStatus {
  std::string identity;
  Epoch epoch;
  std::chrono::milliseconds checkpoint_age{};  ///< since the checkpoint was last written
  std::int64_t pending_rows = 0;  ///< rows of the outbox not acknowledged yet; counts to kMaxPendingRows
  std::chrono::milliseconds pending_age{};       ///< of the oldest of them
  std::int64_t outbox_bytes = 0;                 ///< on disk
  std::optional<std::int64_t> max_outbox_bytes;  ///< none: no limit
  bool given_up = false;                         ///< the outbox was full, and changes were dropped
  std::string obstacle = {};                     ///< why no process can become leader; empty: none is known
  std::optional<LeaderReport> leader;            ///< none: the pipeline has never run
  std::vector<LeadHolder> lead;                  ///< the present holders of its lock
  std::optional<std::vector<Standby>> standbys;  ///< none: this source does not know them
  std::vector<IndexStatus> indices;
  std::vector<ReindexStatus> reindexes;
};

inline constexpr std::int64_t kMaxPendingRows = 100'000;

class StatusReader {
 public:
  virtual ~StatusReader() = default;

  /// Reads one snapshot. None if the pipeline has not been applied. Throws Error.
  virtual std::optional<PipelineStatus> read() = 0;
};

/// A lock that keeps the leader from reading.
struct LockWait {
  /// The session that waits.
  enum class Waiter {
    kLoop,   ///< the leader's own session
    kPages,  ///< the one that reads pages of jobs
    kLists,  ///< the one that makes the lists of large changes
  };
  Waiter waiter = Waiter::kLoop;
  std::string relation;     ///< the locked relation, quoted; empty: no table or view
  int holder = 0;           ///< of the database's processes; 0: a prepared transaction
  std::string user;         ///< of the holder, quoted; empty: not to be seen
  std::string application;  ///< as the holder calls itself; may be empty
};

/// "it waits for a lock on public.items that session 4711 of role app (psql) holds; …", with the remedy.
std::string reason_of(const LockWait& wait);

/// Needs only the pipeline's name, so that it can also report why the rest of it cannot be loaded.
class StatusWriter {
 public:
  virtual ~StatusWriter() = default;

  /// Throws Error.
  virtual void publish(const PublishedStatus& status) = 0;

  /// Whether a process leads the pipeline, this one or another. Throws Error.
  virtual bool is_led() = 0;

  /// The locks that sessions of the leader wait for now; empty if the source has no such locks. Throws Error.
  virtual std::vector<LockWait> lock_waits() = 0;
};

}  // namespace lockstep
