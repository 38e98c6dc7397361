// A source that knows its pipeline and does nothing else, under the contract of a source: what it passes
// proves nothing about any other source. contract_of_an_empty_source.py wants it to fail nearly all of it.
//
// It lets itself be led and it throws nothing, so that no test fails before it has come to its point.
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

class EmptyWriter final : public SourceWriter {
 public:
  void begin() override {}
  void savepoint() override {}
  void rollback_to_savepoint() override {}
  void commit() override {}
  void rollback() override {}
  void insert_thing(int, int) override {}
  void insert_things(int, int) override {}
  void set_n(int, int) override {}
  void set_every_n(int) override {}
  void renumber_thing(int, int) override {}
  void delete_thing(int) override {}
  void delete_things() override {}
  void truncate_things() override {}
  void insert_part(int, int) override {}
  void move_part(int, int) override {}
  void delete_part(int) override {}
  void insert_town(int, const std::string&) override {}
  void rename_town(int, const std::string&) override {}
  void insert_parcel(int, int) override {}
  void move_parcel(int, int) override {}
  void delete_parcel(int) override {}
  std::optional<TransactionId> transaction() override { return TransactionId{1}; }
};

class EmptyTransaction final : public SourceTransaction {
 public:
  Position position() override { return {}; }
  DocumentIds render(const AppliedIndex&, const DocumentIds&, std::int64_t, const DocumentSink&) override {
    return {};
  }
  ViewPageEnd render_page(const AppliedIndex&, const std::optional<DocumentId>&, std::int64_t, std::int64_t,
                          const DocumentSink&) override {
    return {std::nullopt, true};
  }
  ViewList list_page(const AppliedIndex&, const std::optional<DocumentId>&, std::int64_t) override {
    return {{}, true};
  }
  std::optional<std::int64_t> estimate_documents(const AppliedIndex&) override { return std::nullopt; }
  std::vector<StaleDocument> stale(const AppliedIndex&, const std::vector<FoundDocument>&) override {
    return {};
  }
  std::vector<DefinitionDifference> reshaped(const AppliedIndex&) override { return {}; }
  void require_readable(const AppliedIndex&) override {}

  Changes read_changes(const Position&, const ChunkLimits&) override { return {}; }
  std::optional<DocumentIds> resolve(const AppliedIndex&, const std::vector<CapturedChange>&,
                                     const SearchLimits&) override {
    return DocumentIds{};
  }
  NextDue next_due(IndexId, const std::vector<DueNumber>&) override { return {}; }
  DocumentIds render_for(DocumentVersion, const AppliedIndex&, const DocumentIds&, std::int64_t,
                         const DocumentSink&) override {
    return {};
  }
  ViewPageEnd render_page_for(DocumentVersion, const AppliedIndex&, const std::optional<DocumentId>&,
                              std::int64_t, std::int64_t, const DocumentSink&) override {
    return {std::nullopt, true};
  }

  void add_job(IndexId, JobKind, const std::string&) override {}
  void add_due_changes(const AppliedIndex&, const std::vector<CapturedChange>&, DocumentVersion) override {}
  void add_due_transaction(const AppliedIndex&, const LargeTransaction&, DocumentVersion) override {}
  void add_due(const AppliedIndex&, const DocumentIds&, const DueOrigin&) override {}
  void add_repair(const AppliedIndex&, const std::vector<FoundDocument>&, const DueOrigin&) override {}
  void begin_job(JobId) override {}
  void set_aside(IndexId, const std::string&) override {}
  void take_back(IndexId) override {}
  void skip_changes() override {}
  void save(const Acknowledged&) override {}
  std::vector<std::size_t> new_dead_letters(const std::vector<DeadLetter>&) override { return {}; }
  bool may_be_shown() override { return false; }
  Committed commit() override { return {}; }
};

class EmptyReindexes final : public Reindexes {
 public:
  std::vector<Reindex> all() override { return {}; }
  bool start(const WantedReindex&) override { return false; }
  bool limit(ReindexId, std::optional<std::int64_t>) override { return false; }
  bool want(ReindexId, ReindexWish, Force) override { return false; }
  bool advance(const Reindex&, Epoch, const ReindexStep&) override { return false; }
  void note(ReindexId, const std::string&) override {}
  std::int64_t refused_beside(const Reindex&) override { return 0; }
  void note_pace(IndexId, JobKind, const Pace&) override {}
  std::optional<Pace> pace(IndexId, JobKind) override { return std::nullopt; }
};

class EmptySource final : public Source,
                          private Lead,
                          private ChangeLog,
                          private DeadLetterBox,
                          private OutboxMaintenance {
 public:
  EmptySource() {
    AppliedIndex docs;
    docs.id = IndexId{1};
    docs.alias = "docs";
    AppliedIndex parcels;
    parcels.id = IndexId{2};
    parcels.alias = "parcels";
    parcels.routed = true;
    pipeline_.indices = {docs, parcels};
  }

  const AppliedPipeline& pipeline() const override { return pipeline_; }
  void reload() override {}
  std::string revision() override { return {}; }
  Lead& lead() override { return *this; }
  ChangeLog& changes() override { return *this; }
  DeadLetterBox& dead_letters() override { return *this; }
  OutboxMaintenance& outbox() override { return *this; }
  Reindexes& reindexes() override { return reindexes_; }

 private:
  bool try_lead() override { return true; }
  bool is_led() override { return false; }
  SourceIdentity identity() override { return {}; }
  void leave_mark(Epoch) override {}
  Epoch epoch() override { return {}; }
  KnownPartners known_partners() override { return {}; }
  Epoch raise_epoch(Epoch, const KnownPartners&) override { return {}; }
  void note_quiet(Epoch, bool) override {}

  std::unique_ptr<SourceTransaction> begin(Epoch) override { return std::make_unique<EmptyTransaction>(); }
  std::unique_ptr<SourceTransaction> begin_repair() override { return std::make_unique<EmptyTransaction>(); }
  std::unique_ptr<PageConnection> page_connection() override { return nullptr; }
  bool cancel_reading() override { return false; }
  std::unique_ptr<SourceSnapshot> read() override { return std::make_unique<EmptyTransaction>(); }
  Position checkpoint() override { return {}; }
  bool has_passed(const Position&) override { return false; }
  bool may_have_changed(const Position&) override { return false; }
  bool await_change(const Position&, std::chrono::milliseconds, std::chrono::milliseconds) override {
    return false;
  }
  std::chrono::milliseconds save_within() override { return {}; }
  UnfinishedJobs jobs() override { return {}; }
  std::vector<DueList> due() override { return {}; }
  std::optional<FoundDue> find_due(const AppliedIndex&) override { return std::nullopt; }

  std::chrono::system_clock::time_point now() override { return {}; }
  std::int64_t count(const DeadLetterFilter&) override { return 0; }
  std::vector<StoredDeadLetter> find(const DeadLetterFilter&, const std::optional<DeadLetter>&,
                                     std::int64_t) override {
    return {};
  }
  std::vector<DeadLetter> find_due(const std::vector<IndexId>&, std::int64_t) override { return {}; }
  std::int64_t discard(const DeadLetterFilter&) override { return 0; }

  void prune() override {}
  void keep_small() override {}
  std::int64_t size() override { return 0; }
  bool has_given_up() override { return false; }
  bool resume() override { return false; }
  std::vector<std::string> follow_parts() override { return {}; }
  std::vector<std::string> differences_from_applied() override { return {}; }

  AppliedPipeline pipeline_;
  EmptyReindexes reindexes_;
};

class EmptyPoint final : public AppliedPoint {
 public:
  AppliedState look() override { return {}; }
};

class EmptyWatch final : public AppliedWatch {
 public:
  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId>) override {
    return std::make_unique<EmptyPoint>();
  }
  std::vector<SearchedIndex> searched_indices() override { return {}; }
  bool is_led() override { return false; }
};

class EmptyStatus final : public StatusReader {
 public:
  std::optional<PipelineStatus> read() override { return PipelineStatus{}; }
};

class EmptyStatusWriter final : public StatusWriter {
 public:
  void publish(const PublishedStatus&) override {}
  bool is_led() override { return false; }
  std::vector<LockWait> lock_waits() override { return {{.holder = 7}}; }
};

class EmptyDefinition final : public SourceDefinition {
 public:
  std::string server() override { return {}; }
  std::string user() override { return {}; }
  std::vector<Finding> check() override { return {}; }
  std::map<std::string, std::vector<std::string>> document_fields() override { return {}; }
  std::string identity() override { return {}; }
  std::vector<std::string> applied_aliases() override { return {}; }
  std::map<std::string, std::vector<DefinitionDifference>> definition_differences() override { return {}; }
  std::vector<std::string> redefined_aliases() override { return {}; }
  std::vector<std::string> altered_aliases() override { return {}; }
  bool start_reindex(const WantedReindex&, const Progress&) override { return false; }
  void drop_unneeded(const Progress&) override {}
  void refill(const std::vector<std::string>&, const std::string&) override {}
  void note_filled(std::set<std::string>) override {}
  std::vector<PlanStep> plan() override { return {}; }
  void apply(const Progress&) override {}
  std::vector<PlanStep> removal_plan() override { return {}; }
  void remove(const Progress&) override {}
  std::vector<std::string> privileges_for(const std::string&) override { return {}; }
};

class EmptyWorld final : public DefinedWorld {
 public:
  std::unique_ptr<Source> open() override { return std::make_unique<EmptySource>(); }
  std::unique_ptr<SourceWriter> writer() override { return std::make_unique<EmptyWriter>(); }
  std::unique_ptr<SourceWriter> lazy_writer() override { return std::make_unique<EmptyWriter>(); }
  bool is_durable() override { return false; }
  void break_view() override {}
  void mend_view() override {}
  void age_outbox() override {}
  void fill_outbox() override {}
  std::chrono::milliseconds patience() const override { return {}; }

  std::unique_ptr<SourceDefinition> definition(Configuration) override {
    return std::make_unique<EmptyDefinition>();
  }
  std::unique_ptr<AppliedWatch> watch() override { return std::make_unique<EmptyWatch>(); }
  std::unique_ptr<StatusReader> status() override { return std::make_unique<EmptyStatus>(); }
  std::unique_ptr<StatusWriter> status_writer() override { return std::make_unique<EmptyStatusWriter>(); }
  std::string create_user() override { return {}; }
  void execute_as_owner(const std::vector<std::string>&) override {}
  std::unique_ptr<Source> open_as(const std::string&) override { return open(); }
  void drop_trigger() override {}
  void replace_view() override {}
  void plant_job(const std::string&, const std::string&) override {}
  void plant_migration(int) override {}
  void plant_null(const std::string&, const std::string&) override {}
  void plant_text(const std::string&, const std::string&, const std::string&) override {}
  void plant_outbox_rows(CaptureId, int) override {}
  void age_dead_letters(std::chrono::seconds) override {}
  void plant_rows_of_index(IndexId) override {}
};

const auto kEmpty = testing::Values(MakeWorld{[] { return std::make_unique<EmptyWorld>(); }});
const auto kEmptyName = [](const auto&) { return std::string("Empty"); };

INSTANTIATE_TEST_SUITE_P(Empty, SourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, SnapshotSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, PagesSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, ConcurrentSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, DefinedSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, NumberedSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, WatchedSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, ReindexedSourceContract, kEmpty, kEmptyName);
INSTANTIATE_TEST_SUITE_P(Empty, RedefinedSourceContract, kEmpty, kEmptyName);

}  // namespace
}  // namespace lockstep
