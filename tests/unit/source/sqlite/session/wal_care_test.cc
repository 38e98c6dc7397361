#include "replicator/source/sqlite/session/wal_care.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

class HandMovedClock final : public Clock {
 public:
  SteadyTime now() const override { return now_; }
  void move(std::chrono::milliseconds by) { now_ += by; }

 private:
  SteadyTime now_{1h};
};

class SqliteWalCareTest : public testing::Test {
 protected:
  SqliteWalCareTest() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + suffix);
    sqlite3_open(path_.c_str(), &application_);
    execute("pragma journal_mode = wal; create table t (n)");
    source_.database = path_;
  }
  ~SqliteWalCareTest() override { sqlite3_close(application_); }
  SqliteWalCareTest(const SqliteWalCareTest&) = delete;
  SqliteWalCareTest& operator=(const SqliteWalCareTest&) = delete;

  void execute(const char* sql) {
    ASSERT_EQ(sqlite3_exec(application_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }
  std::uintmax_t wal_bytes() const { return std::filesystem::file_size(path_.string() + "-wal"); }

  const std::filesystem::path path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  sqlite3* application_ = nullptr;
  SourceConfig source_;
  HandMovedClock clock_;
};

// Emptying it takes locks, and an application that waits for none would see SQLITE_BUSY.
TEST_F(SqliteWalCareTest, AnApplicationThatWritesWhatNobodyTracksIsLeftAlone) {
  SqliteConnection connection(source_);
  SqliteWalCare care(connection, clock_);
  for (int i = 0; i < 10; ++i) {
    execute("insert into t values (1)");
    care.while_idle();
    EXPECT_GT(wal_bytes(), 0U);
    clock_.move(2s);
    care.while_idle();
    EXPECT_GT(wal_bytes(), 0U);
  }
}

TEST_F(SqliteWalCareTest, ItIsEmptiedOnceNobodyHasWrittenForAWhile) {
  SqliteConnection connection(source_);
  SqliteWalCare care(connection, clock_);
  execute("insert into t values (1)");
  care.while_idle();
  clock_.move(4s);
  care.while_idle();
  EXPECT_EQ(wal_bytes(), 0U);
  execute("insert into t values (2)");
  care.while_idle();
  EXPECT_GT(wal_bytes(), 0U) << "it is quiet for less than that again";
}

}  // namespace
}  // namespace lockstep
