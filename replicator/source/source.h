// What the pipeline needs of a relational database, whichever it is: which rows have changed since a
// position, which documents they belong to, how those look now, and a place where the position is kept.
//
// The contract (tests/contract/source_contract.h runs it over every implementation):
// S1. Every change that commits is in exactly one chunk between two positions, whatever ids and transaction
//     numbers do; a change that is rolled back is in none.
// S2. A chunk's documents are rendered from one snapshot, which contains everything the chunk reports.
// S3. Snapshots of successive transactions do not go back.
// S4. commit() has made durable, when it returns, everything that the transaction could see: a crash of the
//     source cannot take back what Elasticsearch is shown afterwards. may_be_shown() says that it is durable
//     already.
// S5. save() and may_be_shown() fail with Deposed when another process had taken the lead before the
//     transaction's snapshot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/error.h"

namespace lockstep {

/// A place in the stream of changes; only the source that made it can read it.
struct Position {
  std::string text;
  bool operator==(const Position&) const = default;
};

/// Row values or document ids, each in the source's text form, without duplicates.
using Values = std::vector<std::string>;

/// How the values of a capture lead to the documents of one index.
struct AppliedTrack {
  int capture = 0;
  std::string value_type;
  std::string resolver;  ///< function that turns values into ids; empty: the values are the ids
};

/// An index as `apply` has left it in the source.
struct AppliedIndex {
  int id = 0;
  std::string alias;
  std::string view;     ///< quoted
  std::string id_type;  ///< SQL type of _id
  bool routed = false;
  std::vector<std::string> fields;
  std::string definition;
  std::vector<AppliedTrack> tracks;
  std::string set_aside;  ///< why its view could not be read; empty: it could
};

/// A view, or what leads to its documents, cannot be read as `apply` has found it.
class ViewError : public Error {
 public:
  ViewError(const Parts& parts, int index) : Error(parts), index_(index) {}
  int index() const { return index_; }

 private:
  int index_;
};

struct AppliedPipeline {
  int id = 0;
  std::string name;
  std::string identity;  ///< uuid, also in every index's mapping
  std::string revision;  ///< changes with every `apply` that changes anything
  std::vector<AppliedIndex> indices;
};

/// What a capture's rows say: its values, or that any row may have changed.
struct CapturedChange {
  int capture = 0;
  Values values;
  bool everything = false;  ///< the table was truncated
};

struct Changes {
  std::vector<CapturedChange> captured;
  Position next;                           ///< everything up to here has been read
  std::int64_t rows = 0;                   ///< outbox rows read
  bool more = false;                       ///< the batch has further rows that are visible already
  std::chrono::microseconds oldest_age{};  ///< since the oldest of them was written
};

/// A document as it is in the transaction's snapshot. The views are valid during the call only.
struct RenderedDocument {
  std::string_view id;
  std::string_view routing;              ///< empty: none
  std::optional<std::string_view> json;  ///< none: the view has no such document
  /// Routings under which it may still be in Elasticsearch and no longer belongs (routed indices only).
  std::vector<std::string> stale_routings;
};
using DocumentSink = std::function<void(const RenderedDocument&)>;

/// A document that Elasticsearch has.
struct FoundDocument {
  std::string id;
  std::string routing;  ///< empty: none
};

/// One that is where the view does not have it.
struct StaleDocument {
  FoundDocument found;
  bool elsewhere = false;  ///< the view has its id, under another routing
};

enum class JobKind {
  kBackfill,    ///< writes every document of the view
  kComparison,  ///< writes those of the view that Elasticsearch does not have as they are
  kFanOut,      ///< writes certain documents
  kSweep,       ///< deletes what the view does not have
};

/// Work beside the tail, kept in the source.
struct Job {
  std::int64_t id = 0;
  int index = 0;
  JobKind kind = JobKind::kBackfill;
  std::optional<std::string> position;  ///< how far it has been acknowledged; none: nothing of it has been
  std::int64_t done = 0;
  std::optional<std::int64_t> total;  ///< documents; none, for a fan-out: they have not been found
  std::string reason;
  /// The job that has to be over before the documents of this one are looked for, unless it is over already.
  std::optional<std::int64_t> behind = {};
};

/// Progress of a job, saved with the checkpoint.
struct JobProgress {
  std::int64_t job = 0;
  JobKind kind = JobKind::kBackfill;
  std::string position;
  std::int64_t done_documents = 0;  ///< to be added
  bool finished = false;            ///< the job is deleted
};

struct DeadLetter {
  int index = 0;
  std::string id;
  std::string routing;
  DocumentVersion version;
  int status = 0;
  std::string error_type;
  std::string reason;
};

/// A dead letter as the source keeps it. Times are in ISO 8601, in UTC.
struct StoredDeadLetter {
  DeadLetter letter;
  std::string first_at;  ///< when the document was first refused
  std::string last_at;
  int tries = 1;  ///< how often it was refused
};

/// Which dead letters are meant: those that fit everything that is given.
struct DeadLetterFilter {
  std::vector<int> indices;  ///< of one of these
  Values ids;                ///< of one of these documents; empty: of any
  std::string error;         ///< of this error type, or with this in the reason, in any case; empty: of any
  std::string since;         ///< last refused then or later; empty: whenever
  std::string until;         ///< last refused then or before; empty: whenever
};

/// A write of a document that Elasticsearch has acknowledged.
struct AcknowledgedWrite {
  int index = 0;
  std::string id;
  std::string routing;
  DocumentVersion version;
};

/// What has been acknowledged since the last save.
struct Acknowledged {
  std::optional<Position> position;  ///< none: the tail has not moved
  std::vector<JobProgress> jobs;
  std::vector<DeadLetter> refused;
  std::vector<AcknowledgedWrite> no_longer_refused;  ///< applied now: older dead letters go
  std::vector<AcknowledgedWrite> gone_routes;        ///< deleted under this routing, which is forgotten
  std::map<int, std::int64_t> documents;             ///< to be written that have an outcome, by index
};

/// One repeatable-read transaction: read, resolve, render, save, commit. Destroying it without commit()
/// rolls it back. At most one is open on a Source at a time. What reads a view throws ViewError when that
/// will fail again.
class SourceTransaction {
 public:
  virtual ~SourceTransaction() = default;

  /// What this snapshot sees after `from`, at most about `max_values` row values.
  virtual Changes read_changes(const Position& from, std::int64_t max_values) = 0;

  /// The ids of the documents of `index` that the changes lead to, when there are at most `limit`; none when
  /// there are more. REQUIRES: no change says `everything`.
  virtual std::optional<Values> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                        std::int64_t limit) = 0;

  /// Makes a fan-out job of the documents that the changes lead to, which Source::expand() finds, or lets the
  /// changes join one of the index whose documents nobody has begun to look for; returns it. When a job that
  /// has gone further comes from the same rows, the new one is behind it: so a row that changes again and
  /// again has two jobs at most.
  virtual Job add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes) = 0;

  /// Renders the documents of `ids`, those that the view no longer has included, in no particular order;
  /// returns the ids that did not fit into `max_bytes` (at least one document always does). `version` is
  /// remembered with the routings of routed documents; without one nothing is remembered, and stale routings
  /// are not looked up. REQUIRES: none in a transaction of begin_reading().
  virtual Values render(const AppliedIndex& index, const Values& ids, std::int64_t max_bytes,
                        std::optional<DocumentVersion> version, const DocumentSink& sink) = 0;

  /// The documents of the whole view after `after` in the order of _id, at most `limit` and about
  /// `max_bytes`.
  struct Page {
    std::optional<std::string> last;  ///< _id of the last document rendered; none: the page is empty
    bool end = false;                 ///< the view has no further documents
  };
  virtual Page render_page(const AppliedIndex& index, const std::optional<std::string>& after,
                           std::int64_t limit, std::int64_t max_bytes, std::optional<DocumentVersion> version,
                           const DocumentSink& sink) = 0;

  /// The ids of a fan-out job after its position, at most `limit`, and the position behind them.
  struct JobPage {
    Values ids;
    std::string position;
    bool end = false;
  };
  virtual JobPage job_page(const Job& job, const std::optional<std::string>& after, std::int64_t limit) = 0;

  /// Those of `found` that the view does not have (any more), or not under that routing.
  virtual std::vector<StaleDocument> stale(const AppliedIndex& index,
                                           const std::vector<FoundDocument>& found) = 0;

  /// The job that compares a whole index, unless one that has not begun exists; none then.
  virtual std::optional<Job> add_job(int index, JobKind kind, const std::string& reason) = 0;

  /// Adds the jobs after which these documents of the index are what the view gives, each under its routing
  /// and no other; `routing` is where a document was found, or where it belongs. Returns them; whoever leads
  /// picks them up.
  virtual std::vector<Job> add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                                      const std::string& reason) = 0;

  /// Gives up the changes that this snapshot sees: the tail goes on behind them. For an outbox that comes
  /// from another place; jobs that compare everything have to make good for it. REQUIRES: the lead.
  virtual void give_up_changes() = 0;

  /// Notes that the index is not followed, and why; its comparisons and sweeps are forgotten.
  virtual void set_aside(int index, const std::string& reason) = 0;
  /// It is followed again.
  virtual void take_back(int index) = 0;

  /// The job has begun, though nothing of it is acknowledged yet: what changes from now on may concern
  /// documents that it has behind it.
  virtual void begin_job(std::int64_t job) = 0;

  /// What this snapshot sees, as a place in the stream of changes for Source::has_passed().
  virtual Position place() = 0;

  /// Records what Elasticsearch has acknowledged; returns which of `acknowledged.refused`, by their
  /// positions, were no dead letters before. Throws Deposed when `epoch` is no longer the current one.
  virtual std::vector<std::size_t> save(Epoch epoch, const Acknowledged& acknowledged) = 0;

  /// Whether Elasticsearch may be shown what was read without a commit(): nothing was written here, all that
  /// the snapshot sees is durable, and in the snapshot `epoch` is the current one. False: commit(). Throws
  /// Deposed.
  virtual bool may_be_shown(Epoch epoch) = 0;

  /// Commits synchronously; after a save(), everything that the snapshot saw is durable.
  virtual void commit() = 0;
};

/// Which database this is and how far it has come, for noticing that it was restored or replaced.
struct SourceIdentity {
  std::string place;          ///< cluster and database: where it differs, positions mean something else
  std::string timeline;       ///< another one after a promotion or a recovery to an earlier point
  std::int64_t progress = 0;  ///< never falls as long as place and timeline stay; bytes written or the like
};

/// What the last leader has noted of both sides, in the source.
struct KnownPartners {
  std::string place;                   ///< SourceIdentity::place; empty: nobody has led yet
  std::map<int, std::string> targets;  ///< by index: the uuid of the real index
  bool operator==(const KnownPartners&) const = default;
};

/// What the leader publishes about itself for `status`.
struct PublishedStatus {
  std::string state;
  std::string reason;
  std::string document;  ///< JSON
};

/// A pipeline's connection to its source, for one thread.
class Source {
 public:
  virtual ~Source() = default;

  /// What `apply` has left. Throws UsageError when the pipeline was never applied.
  virtual AppliedPipeline load_pipeline() = 0;

  /// What AppliedPipeline::revision is by now. REQUIRES: load_pipeline() was called.
  virtual std::string revision() = 0;

  virtual SourceIdentity identity() = 0;

  /// Takes the lead if nobody has it, for as long as this connection lives: true. False: somebody else leads.
  virtual bool try_lead() = 0;

  /// The epoch of the last leadership.
  virtual Epoch epoch() = 0;

  virtual KnownPartners known_partners() = 0;

  /// Raises the epoch above the current one and above `at_least`, and notes the partners, durably. REQUIRES:
  /// leading.
  virtual Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) = 0;

  /// Where the tail is to go on.
  virtual Position load_position() = 0;

  /// The jobs that are not finished, oldest first.
  virtual std::vector<Job> load_jobs() = 0;

  /// Finds the documents of a fan-out that has no total, beside everything else that is done here: their
  /// number when they are all there, none when it is to be called again. Throws Error or ViewError.
  /// REQUIRES: leading, no transaction open.
  virtual std::optional<std::int64_t> expand(const AppliedIndex& index, const Job& job) = 0;

  /// Number of dead letters of an index.
  virtual std::int64_t dead_letters(int index) = 0;

  /// The dead letters among these documents.
  virtual std::vector<DeadLetter> dead_letters_of(int index, const Values& ids) = 0;

  /// The dead letters that fit, those behind `after` in the order of index, id and routing, at most `limit`.
  virtual std::vector<StoredDeadLetter> find_dead_letters(const DeadLetterFilter& filter,
                                                          const std::optional<DeadLetter>& after,
                                                          std::int64_t limit) = 0;

  virtual std::int64_t count_dead_letters(const DeadLetterFilter& filter) = 0;

  /// Forgets the dead letters that fit; returns how many they were. Their documents stay as they are.
  virtual std::int64_t discard_dead_letters(const DeadLetterFilter& filter) = 0;

  /// A time as a person writes it ("2026-01-31 12:00", "yesterday", or "2h" for two hours ago), for a
  /// DeadLetterFilter; none when it is no time.
  virtual std::optional<std::string> point_in_time(const std::string& text) = 0;

  virtual std::unique_ptr<SourceTransaction> begin() = 0;

  /// A transaction that only reads: it locks nothing and holds no writer up. resolve(), render(),
  /// render_page(), stale() and place() are for it.
  virtual std::unique_ptr<SourceTransaction> begin_reading() = 0;

  /// Whether Elasticsearch has acknowledged everything of this pipeline that was committed before `place`,
  /// apart from what has become jobs. REQUIRES: load_pipeline() was called.
  virtual bool has_passed(const Position& place) = 0;

  /// Whether some process has the lead. REQUIRES: load_pipeline() was called.
  virtual bool is_led() = 0;

  /// Whether somebody waits for what is acknowledged to be saved (applied_watch.h). Costs nothing while
  /// nobody does. REQUIRES: no transaction is open.
  virtual bool is_awaited() = 0;

  /// Whether anything at all may have been committed since `position`: a cheap question for an idle tail.
  /// False is certain, true is not.
  virtual bool may_have_changed(const Position& position) = 0;

  /// Waits until may_have_changed(), at most so long and at least `look_every`; returns whether it is so.
  /// Somebody who begins to wait for what is acknowledged is not noticed meanwhile. REQUIRES: no transaction
  /// is open.
  virtual bool await_change(const Position& position, std::chrono::milliseconds look_every,
                            std::chrono::milliseconds at_most) = 0;

  /// Empties the parts of the outbox that every pipeline has passed. Never waits longer than some 50 ms for a
  /// lock and gives up quietly then.
  virtual void prune() = 0;

  /// Whether changes were given up because the outbox was full (replication.max_outbox_size), and have not
  /// been made good for. REQUIRES: load_pipeline() was called.
  virtual bool has_given_up() = 0;

  /// Has changes noted again, and when nothing that was not noted can still be committed, lets the pipelines
  /// go on from now and adds comparisons of all their indices: true. False: a transaction that was not noted
  /// is still open; to be called again. REQUIRES: leading, no transaction open.
  virtual bool make_good() = 0;

  /// Bytes on disk, with what was consumed and is not emptied yet.
  virtual std::int64_t outbox_size() = 0;

  /// What has changed in the source since the last `apply` so that changes or new columns are missed, in
  /// words: triggers that are gone or disabled, views that were replaced.
  virtual std::vector<std::string> differences_from_applied() = 0;

  virtual void publish(const PublishedStatus& status) = 0;
};

}  // namespace lockstep
