// A file that goes back to an older state, in place, beside a leader and without one.
#include "replicator/source/sqlite/read/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "replicator/error.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "replicator/source/sqlite/read/source.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class SqliteHistoryTest : public testing::Test {
 protected:
  SqliteHistoryTest() {
    application_.emplace(file_);
    application_->execute(
        "create table t (id integer primary key, n); create view v as select id as _id, n from t;"
        "insert into t values (1, 0)");
    SqliteSourceDefinition(config_).apply({});
  }

  /// A leader.
  std::unique_ptr<SqliteSource> lead() {
    auto source = std::make_unique<SqliteSource>(config_);
    EXPECT_TRUE(source->lead().try_lead());
    epoch_ = source->lead().raise_epoch({}, {source->lead().identity().place, {}});
    return source;
  }
  void save(SqliteSource& source) const {
    const auto transaction = source.changes().begin(epoch_);
    Acknowledged nothing;
    nothing.position = transaction->position();
    transaction->save(nothing);
    transaction->commit();
  }

  /// With the application stopped and -wal copied back into the file.
  std::string content() {
    application_->execute("pragma wal_checkpoint(truncate)");
    application_.reset();
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// As cp does it. The application starts again, and changes so much that the outbox is longer than before.
  void overwrite(const std::string& backup) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << backup;
  }
  void start_application(int changes) {
    application_.emplace(file_);
    for (int i = 0; i < changes; ++i) application_->execute("update t set n = n + 1");
  }

  const ApplicationFolder folder_;
  const std::filesystem::path file_ = folder_.file("app.db");
  Config config_ = sqlite_config(file_, {sqlite_index("v", {sqlite_track("t")})});
  std::optional<Application> application_;
  Epoch epoch_;
};

// The application had passed the last row that was read, so nothing else showed it.
TEST_F(SqliteHistoryTest, AFileOverwrittenInPlaceIsNoticedThoughItHasMoreRowsThanWereRead) {
  const auto source = lead();
  application_->execute("update t set n = 1");
  save(*source);
  const std::string backup = content();
  start_application(3);
  save(*source);
  (void)content();
  overwrite(backup);
  const std::string timeline = SqliteSource(config_).lead().identity().timeline;
  start_application(20);
  EXPECT_THAT([&] { source->changes().begin(epoch_); },
              ThrowsMessage<Error>(HasSubstr("restored from an older state")));
  EXPECT_NE(SqliteSource(config_).lead().identity().timeline, timeline) << "the next leader compares";
}

// SQLite keeps pages until somebody commits through it.
TEST_F(SqliteHistoryTest, AFileOverwrittenInPlaceIsNoticedThoughNobodyWrites) {
  const auto source = lead();
  const std::string backup = content();
  start_application(1);
  save(*source);
  (void)content();
  EXPECT_NO_THROW(source->lead().identity());
  overwrite(backup);
  EXPECT_THAT([&] { source->lead().identity(); }, ThrowsMessage<Error>(HasSubstr("older state")));
  start_application(0);
  EXPECT_EQ(application_->value("pragma integrity_check"), "ok") << "no page of the other file was written";
}

TEST_F(SqliteHistoryTest, ABackupLacksTheMarksThatWereLeftAfterIt) {
  auto source = lead();
  source->lead().leave_mark(epoch_);
  const SourceIdentity before = source->lead().identity();
  const std::string backup = content();
  start_application(2);
  source->lead().leave_mark(epoch_);
  const SourceIdentity after = source->lead().identity();
  EXPECT_THAT(after.marks, Contains(before.marks.back())) << "what an index carries is still known";
  source.reset();
  (void)content();
  overwrite(backup);
  start_application(20);
  const SourceIdentity restored = SqliteSource(config_).lead().identity();
  EXPECT_GT(restored.progress, after.progress);
  EXPECT_EQ(restored.timeline, after.timeline);
  EXPECT_THAT(restored.marks, Not(Contains(after.marks.back())));
}

TEST_F(SqliteHistoryTest, ALaterLeaderIsNoOlderState) {
  const auto source = lead();
  save(*source);
  const Epoch deposed = epoch_;
  SqliteSource other(config_);
  other.lead().raise_epoch({}, {});
  EXPECT_THROW(source->changes().begin(deposed)->may_be_shown(), Deposed);
  EXPECT_THROW(save(*source), Deposed);
}

TEST_F(SqliteHistoryTest, OnlySoManyMarksAreKept) {
  const auto source = lead();
  application_->execute(
      "insert into lockstep_mark with recursive i(n) as (select 10 union all select n + 1 from i where n < "
      "3000) select 1, n, n from i");
  source->lead().leave_mark(epoch_);
  EXPECT_EQ(application_->value("select count(*) from lockstep_mark"), "1000");
}

}  // namespace
}  // namespace lockstep
