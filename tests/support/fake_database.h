// A relational database in memory that tests drive by hand. It keeps the contract of source/transaction.h
// (S1 to S6), in its strictest reading: a transaction does not see what it has recorded itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/source.h"

namespace lockstep::fake {

/// A row of a view.
struct Row {
  std::string json;
  std::string routing = {};
  bool operator==(const Row&) const = default;
};

/// Numbers by their value, before all other texts.
struct IdOrder {
  bool operator()(const std::string& left, const std::string& right) const;
};
using View = std::map<std::string, Row, IdOrder>;  ///< by _id

struct OutboxRow {
  CaptureId capture;
  Values values;
  bool everything = false;
  std::size_t transaction = 0;  ///< its number
};

using RoutedId = std::tuple<IndexId, std::string, std::string>;  ///< index, _id, routing

struct StoredJob {
  Job job;
};

/// Changes of one index whose documents are still to be found.
struct DueChanges {
  DueNumber number;
  std::vector<CapturedChange> changes;
  std::optional<DocumentVersion> as_of;
  std::string reason;
  SteadyTime since{};
  bool keeps_rows = false;  ///< of a large transaction
};

struct StoredPage {
  DuePage page;
  std::string reason;
  SteadyTime since{};
  SteadyTime not_before{};
};

/// What is due of one index.
struct StoredDue {
  std::vector<DueChanges> changes;  ///< oldest first
  std::map<DueNumber, StoredPage> pages;

  bool empty() const { return changes.empty() && pages.empty(); }
  std::size_t documents() const;
};

struct StoredLetter {
  DeadLetter letter;
  std::chrono::system_clock::time_point first_at;
  std::chrono::system_clock::time_point last_at;
  int tries = 1;
};

struct StoredReindex {
  Reindex reindex;
  std::chrono::seconds keep{};           ///< after each swap
  std::optional<SteadyTime> kept_until;  ///< none: the alias has not moved yet

  /// From now on.
  std::chrono::seconds kept_for() const;
};

/// What a transaction can see: everything that was committed before it began.
struct State {
  AppliedPipeline pipeline;
  IndexId last_index;
  std::map<IndexId, IndexId>
      same_view;  ///< of generations that reindexes have made: with which they share it
  std::map<ReindexId, StoredReindex> reindexes;
  ReindexId last_reindex;
  std::map<std::pair<IndexId, JobKind>, Pace> paces;
  std::map<IndexId, View> views;
  std::vector<OutboxRow> outbox;
  std::size_t transactions = 0;  ///< begun
  std::size_t position = 0;      ///< outbox rows that the checkpoint has passed
  Epoch epoch;
  KnownPartners partners;
  std::map<IndexId, std::string> set_aside;
  std::size_t pruned = 0;  ///< outbox rows that are no longer there
  bool captures = true;    ///< the triggers write into the outbox
  bool given_up = false;   ///< changes were dropped, and resume() has not succeeded since
  std::map<JobId, StoredJob> jobs;
  std::vector<UnreadableJob> unreadable_jobs;
  JobId next_job{1};
  std::map<IndexId, StoredDue> due;
  std::int64_t last_due = 0;
  std::map<RoutedId, StoredLetter> dead_letters;
  std::map<RoutedId, DocumentVersion> routes;

  /// The index whose view an index reads, and whose resolvers it has.
  IndexId view_of(IndexId index) const;
  /// Empty where there is none.
  const View& view(IndexId index) const;
};

/// The machine's, or that of the scheduler that is set.
std::chrono::system_clock::time_point wall_now();

Position position_at(std::size_t rows);
std::size_t rows_of(const Position& position);
bool has_begun(const StoredJob& stored);

/// Stores a job under the next id.
Job insert(State& state, StoredJob stored);

/// As AppliedPipeline has it: with what is set aside, and beside what each index is.
AppliedPipeline applied(const State& state);

/// Gives the pipeline another revision.
void note_revision(State& state);

/// Everything that there is of an index, but its view.
void forget_index(State& state, IndexId index);

/// As ChangeLog::due().
std::vector<DueList> due_lists(const State& state);

/// As SourceTransaction::add_job().
std::optional<Job> add_whole_index_job(State& state, IndexId index, JobKind kind, const std::string& reason);

/// Of a page that comes from nothing older.
inline constexpr DueNumber kSinceItself{-1};

/// Adds pages of these documents, each once.
void add_pages(State& state, IndexId index, const std::vector<std::string>& ids, const StoredPage& like);

/// One transaction of an application.
class Change {
 public:
  explicit Change(State& state) : state_(state) {}

  const View& view(IndexId index) { return state_.views[index]; }

  /// The rows of a view as they are from now on.
  Change& put(IndexId index, const std::string& id, const std::string& json, const std::string& routing = {});
  Change& remove(IndexId index, const std::string& id);

  /// What the triggers write.
  Change& captured(CaptureId capture, Values values);
  Change& truncated(CaptureId capture);

 private:
  State& state_;
};

/// Where a transaction of the pipeline is when the database calls its hook. kFind is a call of
/// ChangeLog::find_due().
enum class Step { kBegin, kReadChanges, kRender, kSave, kCommit, kCommitted, kFind };

/// The server. All connections share it. Thread-safe.
class Database {
 public:
  explicit Database(AppliedPipeline pipeline = {}) { apply(std::move(pipeline)); }

  void commit(const std::function<void(Change&)>& change);
  /// A transaction of lockstep's on its own tables. `change` returns whether there is anything to commit; so
  /// does this.
  bool write(const std::function<bool(State&)>& change);

  /// The state as it is now.
  State state() const;
  std::shared_ptr<const State> snapshot() const;

  /// How the values of a capture lead to documents of an index. Without a resolver the values are the ids.
  using Resolver = std::function<Values(const State&, const std::string& value)>;
  void resolve_with(IndexId index, CaptureId capture, Resolver resolve);

  /// Calls `hook` at each step of each transaction of the pipeline, before the step (kCommitted: after it).
  /// The hook may throw, as a server may fail, and may commit changes of its own.
  void at_step(std::function<void(Step)> hook);

  AppliedPipeline pipeline() const;
  /// What `apply` would do.
  void apply(AppliedPipeline pipeline);
  /// Adds a job that nobody has begun.
  JobId add_job(IndexId index, JobKind kind);
  /// Makes these documents due, on one page, as another process does.
  void add_due(IndexId index, const Values& ids);
  /// Stores these jobs, and no others, that nobody can read.
  void set_unreadable_jobs(std::vector<UnreadableJob> jobs);

  /// Which database it is. A restored or promoted one has another identity.
  SourceIdentity identity() const;
  void set_identity(const SourceIdentity& identity);

  /// Whether changes are durable as soon as they are committed (at first: no). Without that, the next commit
  /// of the pipeline makes them durable.
  void set_durable(bool durable);
  /// Whether a crash can no longer take back what was committed.
  bool is_durable() const;

  /// From now on crash() is possible.
  void remember_durable();
  /// What is not durable is gone, and so are all connections.
  void crash();
  /// A state from before is there again. All connections are gone.
  void restore(const std::shared_ptr<const State>& state);

  /// Whether the source has a connection for pages of jobs (at first: no).
  void read_pages_beside() { reads_pages_beside_ = true; }
  bool reads_pages_beside() const { return reads_pages_beside_; }

  /// Whether connections beside the leader's can be opened: for pages, and for finding due documents.
  void give_side_connections(bool give) { gives_side_connections_ = give; }
  bool gives_side_connections() const { return gives_side_connections_; }

  /// Moves the checkpoint as a leader would.
  void set_position(std::size_t rows);

  /// Whether reading the view of an index throws ViewError.
  void set_readable(IndexId index, bool readable);

  /// The outbox is full: changes are left out until OutboxMaintenance::resume().
  void give_up();
  /// Whether the triggers write into the outbox.
  bool captures() const;
  /// Around a transaction whose changes are left out. OutboxMaintenance::resume() waits for its end.
  void begin_uncaptured();
  void end_uncaptured();

  /// While the database is away, nobody can connect and every call of a connection throws a retryable Error.
  void set_away(bool away);
  void require_present() const;
  /// Likewise, and when it has lost the connections of this start of it.
  void require_connected(int start) const;
  /// The connection to this source is gone, and the lead with it. The source may not know yet.
  void cut(const void* source);
  /// While somebody else leads, try_lead() fails.
  void set_led_elsewhere(bool led);
  bool is_led() const;
  /// Connections opened since the beginning.
  int connections() const;
  /// How many documents were rendered since the beginning: those that were asked for, whatever was then
  /// given, as a server renders them.
  std::int64_t renderings() const;
  /// What leaders have published, oldest first.
  std::vector<PublishedStatus> published() const;
  /// What sessions of the leader wait for, from now on.
  void set_lock_waits(std::vector<LockWait> waits);

 private:
  friend class FakeSource;
  friend class FakeStatusWriter;
  friend class FakeTransaction;

  /// The state, to be changed: snapshots keep what they have. REQUIRES: mutex_ is held.
  State& change();
  /// What was committed until now is durable. REQUIRES: mutex_ is held.
  void flush();
  void put_back(const State& state);
  void step(Step step) const;
  void require_readable(const AppliedIndex& index) const;
  void count_renderings(std::int64_t documents);
  std::vector<std::string> resolve(const State& state, IndexId index,
                                   const std::vector<CapturedChange>& changes) const;

  std::atomic<bool> reads_pages_beside_ = false;
  std::atomic<bool> gives_side_connections_ = true;
  mutable std::mutex mutex_;
  std::shared_ptr<State> state_ = std::make_shared<State>();     // guarded by mutex_: shared with snapshots
  std::map<std::pair<IndexId, CaptureId>, Resolver> resolvers_;  // guarded by mutex_
  std::function<void(Step)> hook_;                               // guarded by mutex_
  const void* leader_ = nullptr;                                 // guarded by mutex_: connection that leads
  std::vector<PublishedStatus> published_;                       // guarded by mutex_
  std::vector<LockWait> lock_waits_;                             // guarded by mutex_
  SourceIdentity identity_{"fake", "1", 100};                    // guarded by mutex_
  std::set<IndexId> unreadable_;                                 // guarded by mutex_
  std::int64_t renderings_ = 0;                                  // guarded by mutex_
  int connections_ = 0;                                          // guarded by mutex_
  int uncaptured_ = 0;                                           // guarded by mutex_: open transactions
  bool durable_ = false;                                         // guarded by mutex_
  bool flushed_ = true;                                          // guarded by mutex_
  std::shared_ptr<const State> durable_state_;                   // guarded by mutex_: of crash()
  int start_ = 0;               // guarded by mutex_: of the server, its number
  bool away_ = false;           // guarded by mutex_
  bool led_elsewhere_ = false;  // guarded by mutex_
};

}  // namespace lockstep::fake
