// What keeps the application from writing is short: everything is found out before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/sqlite/define/differences.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::SizeIs;

/// Counts what this process reads while it has a write lock that it took with `begin immediate`.
class ReadsUnderLock {
 public:
  /// Calls `before` each time before it takes the lock.
  explicit ReadsUnderLock(std::function<void()> before = [] {}) {
    reads_ = 0;
    before_ = std::move(before);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&listen));
  }
  ~ReadsUnderLock() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&listen)); }
  ReadsUnderLock(const ReadsUnderLock&) = delete;
  ReadsUnderLock& operator=(const ReadsUnderLock&) = delete;

  static int count() { return reads_; }

 private:
  static int listen(sqlite3* database, char** /*error*/, const void* /*functions*/) {
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &note, nullptr);
  }
  static int note(unsigned /*kind*/, void* /*nothing*/, void* /*statement*/, void* text) {
    const std::string_view sql = static_cast<const char*>(text);
    if (sql.starts_with("begin immediate")) before_();
    if (sql.starts_with("begin")) has_lock_ = sql.starts_with("begin immediate");
    if (sql.starts_with("commit") || sql.starts_with("rollback")) has_lock_ = false;
    if (has_lock_ && (sql.starts_with("select") || sql.starts_with("pragma"))) ++reads_;
    return 0;
  }

  inline static std::function<void()> before_;
  inline static int reads_ = 0;
  inline static bool has_lock_ = false;
};

std::vector<IndexConfig> make_tables(Application& application, int count) {
  std::vector<IndexConfig> indices;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    application.execute("create table t" + number +
                        " (id integer primary key, name text unique); create view v" + number +
                        " as select id as _id, name from t" + number);
    indices.push_back(sqlite_index("v" + number, {sqlite_track("t" + number)}));
  }
  return indices;
}

int reads_of_first_apply(int tables) {
  const ReadsUnderLock listening;
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  const Config config = sqlite_config(folder.file("app.db"), make_tables(application, tables));
  SqliteSourceDefinition(config).apply({});
  return ReadsUnderLock::count();
}

TEST(ShortLockTest, ApplyReadsTheSameUnderTheWriteLockHoweverManyTracksThereAre) {
  const int of_one = reads_of_first_apply(1);
  EXPECT_GT(of_one, 0) << "it looks whether anybody was faster";
  EXPECT_EQ(reads_of_first_apply(12), of_one);
}

TEST(ShortLockTest, ApplyPlansAnewWhenTheSchemaChangedBeforeItHadTheLock) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  const Config config = sqlite_config(folder.file("app.db"), make_tables(application, 1));
  const ReadsUnderLock listening(
      [&] { application.execute("alter table t0 add column more; create unique index u on t0 (more)"); });
  SqliteSourceDefinition(config).apply({});
  EXPECT_THAT(application.captured_by(
                  "insert into t0 values (1, 'a', 1); insert or replace into t0 values (2, 'b', 1)"),
              testing::UnorderedElementsAre("t0: 1", "t0: 1", "t0: 2"));
}

TEST(ShortLockTest, LostTriggersAreFoundBeforeTheWriteLockIsTaken) {
  const ApplicationFolder folder;
  Application application(folder.file("app.db"));
  const Config config = sqlite_config(folder.file("app.db"), make_tables(application, 8));
  SqliteSourceDefinition(config).apply({});
  const auto mend = [&](const std::string& dropped) {
    application.execute(dropped);
    const ReadsUnderLock listening;
    SqliteConnection connection(config.source);
    EXPECT_THAT(mend_triggers(connection, config.pipeline),
                SizeIs(dropped.find(';') == std::string::npos ? 1 : 2));
    return ReadsUnderLock::count();
  };
  const int of_one = mend("drop trigger lockstep_1_insert");
  EXPECT_EQ(mend("drop trigger lockstep_2_insert; drop trigger lockstep_3_insert"), of_one);
}

}  // namespace
}  // namespace lockstep
