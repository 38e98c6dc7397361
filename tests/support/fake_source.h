// A relational database in memory, driven by hand, behind the interface that the pipeline knows. It keeps the
// contract of source.h: transactions see one committed state, changes come once and in the order of their
// commits, what is saved is saved with the commit or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "replicator/source/source.h"

namespace lockstep::fake {

/// A row of a view.
struct Row {
  std::string json;
  std::string routing = {};
  bool operator==(const Row&) const = default;
};
using View = std::map<std::string, Row>;  ///< by _id

struct OutboxRow {
  int capture = 0;
  Values values;
  bool everything = false;
};

using DocumentPlace = std::tuple<int, std::string, std::string>;  ///< index, id, routing

struct StoredJob {
  Job job;
  bool begun = false;
  std::map<std::int64_t, std::string> documents;  ///< of a fan-out, by number
};

/// What a transaction can see: everything that was committed before it began.
struct State {
  std::map<int, View> views;  ///< by index
  std::vector<OutboxRow> outbox;
  std::size_t position = 0;  ///< outbox rows that the checkpoint has passed
  Epoch epoch;
  KnownPartners partners;
  std::map<int, std::string> set_aside;  ///< by index
  bool given_up = false;                 ///< triggers have written nothing for a while
  std::map<std::int64_t, StoredJob> jobs;
  std::map<DocumentPlace, DeadLetter> dead_letters;
  std::map<DocumentPlace, DocumentVersion> routes;
};

/// One transaction of an application.
class Change {
 public:
  explicit Change(State& state) : state_(state) {}

  const View& view(int index) { return state_.views[index]; }

  /// The rows of a view as they are from now on.
  Change& put(int index, const std::string& id, const std::string& json, const std::string& routing = {});
  Change& remove(int index, const std::string& id);

  /// What the triggers write.
  Change& captured(int capture, Values values);
  Change& truncated(int capture);

 private:
  State& state_;
};

/// Where a transaction of the pipeline is when the database's hook is called.
enum class Step { kBegin, kReadChanges, kRender, kSave, kCommit, kCommitted };

/// The server: all connections share it. Thread-safe.
class Database {
 public:
  explicit Database(AppliedPipeline pipeline) : pipeline_(std::move(pipeline)) {}

  void commit(const std::function<void(Change&)>& change);

  /// The state by now.
  State state() const;

  /// The rows that a resolver function finds by a value.
  using Resolver = std::function<Values(const State&, const std::string& value)>;
  void resolve_with(const std::string& resolver, Resolver resolve);

  /// Called at each step of each transaction of the pipeline, before it is done (kCommitted: after it); may
  /// throw, as a server may fail, or commit changes of its own.
  void at_step(std::function<void(Step)> hook);

  AppliedPipeline pipeline() const;
  /// As `apply` would.
  void apply(AppliedPipeline pipeline);
  std::int64_t add_job(int index, JobKind kind, const Values& ids = {});

  /// Which database it is; set_identity() as a restored or promoted one says it.
  SourceIdentity identity() const;
  void set_identity(const SourceIdentity& identity);

  /// Whether what is committed is durable before the pipeline commits; at first it is not.
  void set_durable(bool durable);

  /// For has_passed() and for tests: moves the checkpoint as a leader would.
  void set_position(std::size_t rows);

 private:
  friend class FakeSource;
  friend class FakeTransaction;

  void step(Step step) const;

  mutable std::mutex mutex_;
  AppliedPipeline pipeline_;                   // guarded by mutex_
  State state_;                                // guarded by mutex_
  std::map<std::string, Resolver> resolvers_;  // guarded by mutex_
  std::function<void(Step)> hook_;             // guarded by mutex_
  const void* leader_ = nullptr;               // guarded by mutex_: the connection that leads
  std::int64_t next_job_ = 1;                  // guarded by mutex_
  std::vector<PublishedStatus> published_;     // guarded by mutex_
  SourceIdentity identity_{"fake", "1", 100};  // guarded by mutex_
  bool durable_ = false;                       // guarded by mutex_
};

class FakeTransaction final : public SourceTransaction {
 public:
  enum class Access { kReadWrite, kReadOnly };

  FakeTransaction(Database& database, int& open, Access access);
  ~FakeTransaction() override;

  Changes read_changes(const Position& from, std::int64_t max_values) override;
  std::optional<Values> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                std::int64_t limit) override;
  Job add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes) override;
  Values render(const AppliedIndex& index, const Values& ids, std::int64_t max_bytes,
                std::optional<DocumentVersion> version, const DocumentSink& sink) override;
  Page render_page(const AppliedIndex& index, const std::optional<std::string>& after, std::int64_t limit,
                   std::int64_t max_bytes, std::optional<DocumentVersion> version,
                   const DocumentSink& sink) override;
  JobPage job_page(const Job& job, const std::optional<std::string>& after, std::int64_t limit) override;
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override;
  std::optional<Job> add_job(int index, JobKind kind, const std::string& reason) override;
  std::vector<Job> add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                              const std::string& reason) override;
  void give_up_changes() override;
  void set_aside(int index, const std::string& reason) override;
  void take_back(int index) override;
  void begin_job(std::int64_t job) override;
  Position place() override;
  std::vector<std::size_t> save(Epoch epoch, const Acknowledged& acknowledged) override;
  bool may_be_shown(Epoch epoch) override;
  void commit() override;

 private:
  /// Changes what this transaction sees, and the database when it commits.
  void write(std::function<void(State&)> change);
  Values ids_of(const AppliedIndex& index, const std::vector<CapturedChange>& changes) const;
  Job insert_job(int index, JobKind kind, const std::string& reason, const Values& ids);
  RenderedDocument rendered(const AppliedIndex& index, const std::string& id, const Row* row,
                            std::optional<DocumentVersion> version);

  Database& database_;
  int& open_;  // transactions that are open on the connection
  const Access access_;
  State seen_;
  std::vector<std::function<void(State&)>> writes_;
  std::optional<Epoch> saved_under_;
};

/// One connection.
class FakeSource final : public Source {
 public:
  explicit FakeSource(Database& database) : database_(database) {}
  ~FakeSource() override;

  AppliedPipeline load_pipeline() override;
  std::string revision() override;
  SourceIdentity identity() override { return database_.identity(); }
  KnownPartners known_partners() override { return database_.state().partners; }
  bool try_lead() override;
  Epoch epoch() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  Position load_position() override;
  std::vector<Job> load_jobs() override;
  /// Its fan-outs know their documents from the beginning.
  std::optional<std::int64_t> expand(const AppliedIndex& /*index*/, const Job& job) override {
    return static_cast<std::int64_t>(database_.state().jobs.at(job.id).documents.size());
  }
  std::int64_t dead_letters(int index) override;
  std::vector<DeadLetter> dead_letters_of(int index, const Values& ids) override;
  std::vector<StoredDeadLetter> find_dead_letters(const DeadLetterFilter& filter,
                                                  const std::optional<DeadLetter>& after,
                                                  std::int64_t limit) override;
  std::int64_t count_dead_letters(const DeadLetterFilter& filter) override;
  std::int64_t discard_dead_letters(const DeadLetterFilter& filter) override;
  /// This database has no clock: every text is a time, and no dead letter has one.
  std::optional<std::string> point_in_time(const std::string& text) override { return text; }
  std::unique_ptr<SourceTransaction> begin() override;
  std::unique_ptr<SourceTransaction> begin_reading() override;
  bool has_passed(const Position& place) override;
  bool is_led() override;
  bool is_awaited() override { return false; }
  bool may_have_changed(const Position& position) override;
  bool await_change(const Position& position, std::chrono::milliseconds look_every,
                    std::chrono::milliseconds at_most) override;
  void prune() override {}
  bool has_given_up() override { return database_.state().given_up; }
  bool make_good() override;
  std::vector<std::string> differences_from_applied() override { return {}; }
  std::int64_t outbox_size() override { return static_cast<std::int64_t>(database_.state().outbox.size()); }
  void publish(const PublishedStatus& status) override;

 private:
  Database& database_;
  int open_ = 0;
};

}  // namespace lockstep::fake
