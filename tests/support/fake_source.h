// A connection to the database in memory, behind the interface that the pipeline knows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/pipeline_status.h"
#include "replicator/source/source.h"
#include "tests/support/fake_database.h"
#include "tests/support/fake_reindexes.h"
#include "tests/support/fake_transaction.h"

namespace lockstep::fake {

class FakeSource final : public Source,
                         private Lead,
                         private ChangeLog,
                         private DeadLetterBox,
                         private OutboxMaintenance {
 public:
  /// Connects. Throws Error while the database is away.
  explicit FakeSource(Database& database);
  ~FakeSource() override;

  const AppliedPipeline& pipeline() const override { return pipeline_; }
  void reload() override;
  std::string revision() override;
  Lead& lead() override { return *this; }
  ChangeLog& changes() override { return *this; }
  DeadLetterBox& dead_letters() override { return *this; }
  OutboxMaintenance& outbox() override { return *this; }
  Reindexes& reindexes() override { return reindexes_; }

 private:
  bool try_lead() override;
  bool is_led() override;
  SourceIdentity identity() override;
  void leave_mark(Epoch /*epoch*/) override {}
  Epoch epoch() override;
  KnownPartners known_partners() override;
  Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) override;
  void note_quiet(Epoch epoch, bool landed) override;

  std::unique_ptr<SourceTransaction> begin(Epoch epoch) override;
  std::unique_ptr<SourceTransaction> begin_repair() override;
  std::unique_ptr<PageConnection> page_connection() override;
  /// Of a source with a connection for pages it does nothing: nothing here takes long.
  bool cancel_reading() override { return database_.reads_pages_beside(); }
  std::unique_ptr<SourceSnapshot> read() override;
  Position checkpoint() override;
  bool has_passed(const Position& position) override;
  bool may_have_changed(const Position& position) override;
  bool await_change(const Position& position, std::chrono::milliseconds check_every,
                    std::chrono::milliseconds at_most) override;
  std::chrono::milliseconds save_within() override;
  UnfinishedJobs jobs() override;
  std::vector<DueList> due() override;
  /// Says none once, as if finding the documents took a while.
  std::optional<FoundDue> find_due(const AppliedIndex& index) override;

  std::chrono::system_clock::time_point now() override;
  std::int64_t count(const DeadLetterFilter& filter) override;
  std::vector<StoredDeadLetter> find(const DeadLetterFilter& filter, const std::optional<DeadLetter>& after,
                                     std::int64_t limit) override;
  /// All of those that may work later: time does not pass here.
  std::vector<DeadLetter> find_due(const std::vector<IndexId>& indices, std::int64_t limit) override;
  std::int64_t discard(const DeadLetterFilter& filter) override;

  void prune() override;
  void keep_small() override { prune(); }
  std::int64_t size() override;
  bool has_given_up() override;
  bool resume() override;
  std::vector<std::string> follow_parts() override { return {}; }
  std::vector<std::string> differences_from_applied() override { return {}; }

  void require_connected() const { database_.require_connected(connection_.start); }
  /// Asks the state as it is now. Throws Error while the database is away.
  template <typename Question>
  auto ask(const Question& question) const;
  std::int64_t make_pages(IndexId index);
  std::int64_t make_pages(const State& seen, IndexId index, const std::vector<DueChanges>& entries);

  Database& database_;
  AppliedPipeline pipeline_;
  Connection connection_;
  FakeReindexes reindexes_{database_, connection_};
};

class FakeStatusWriter final : public StatusWriter {
 public:
  /// Connects. Throws Error while the database is away.
  explicit FakeStatusWriter(Database& database);

  void publish(const PublishedStatus& status) override;
  bool is_led() override;
  std::vector<LockWait> lock_waits() override;

 private:
  Database& database_;
};

}  // namespace lockstep::fake
