#include "replicator/source/sqlite/session/byte_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace lockstep {
namespace {

class ByteLockTest : public testing::Test {
 protected:
  ByteLockTest() {
    std::filesystem::remove(path_);
    std::ofstream{path_};
  }

  const std::filesystem::path path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ByteLockTest, OneHolderAtATimeAndNothingIsLeftBehind) {
  const SqliteFile file(path_);
  auto first = std::make_unique<ByteLock>(file, LockPurpose::kLead, 1);
  ByteLock second(file, LockPurpose::kLead, 1);
  EXPECT_FALSE(second.is_held_elsewhere());
  EXPECT_TRUE(first->try_exclusive());
  EXPECT_TRUE(first->try_exclusive()) << "it is ours already";
  EXPECT_FALSE(first->is_held_elsewhere()) << "it is ours";
  EXPECT_FALSE(second.try_exclusive());
  EXPECT_TRUE(second.is_held_elsewhere());
  first.reset();
  EXPECT_TRUE(second.try_exclusive());
  EXPECT_EQ(std::filesystem::file_size(path_), 0U);
}

TEST_F(ByteLockTest, PipelinesAndPurposesAreApart) {
  const SqliteFile file(path_);
  ByteLock lead(file, LockPurpose::kLead, 1);
  ByteLock other_pipeline(file, LockPurpose::kLead, 2);
  ByteLock awaited(file, LockPurpose::kAwaited, 1);
  EXPECT_TRUE(lead.try_exclusive());
  EXPECT_TRUE(other_pipeline.try_exclusive());
  EXPECT_TRUE(awaited.try_exclusive());
}

TEST_F(ByteLockTest, SeveralShareAndTheLastLetsGo) {
  const SqliteFile file(path_);
  ByteLock leader(file, LockPurpose::kAwaited, 1);
  auto first = std::make_unique<ByteLock>(file, LockPurpose::kAwaited, 1);
  ByteLock second(file, LockPurpose::kAwaited, 1);
  first->share();
  second.share();
  EXPECT_TRUE(leader.is_held_elsewhere());
  first.reset();
  EXPECT_TRUE(leader.is_held_elsewhere());
  second.let_go();
  EXPECT_FALSE(leader.is_held_elsewhere());
}

// Closing any descriptor of the file would drop every lock that SQLite has on it in this process.
TEST_F(ByteLockTest, SqliteKeepsItsLocksWhenOneOfOursGoes) {
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "create table t (n); begin immediate", nullptr, nullptr, nullptr),
            SQLITE_OK);
  {
    ByteLock lock(SqliteFile(path_), LockPurpose::kLead, 1);
    EXPECT_TRUE(lock.try_exclusive());
  }
  // As another process would see it: a descriptor's own locks do not meet SQLite's in this process, but its
  // open-file-description locks do.
  const int probe = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(probe, 0);
  struct flock reserved {};
  reserved.l_type = F_WRLCK;
  reserved.l_whence = SEEK_SET;
  reserved.l_start = 0x40000000 + 1;  // SQLite's RESERVED byte
  reserved.l_len = 1;
  ASSERT_EQ(fcntl(probe, F_OFD_GETLK, &reserved), 0);
  EXPECT_NE(reserved.l_type, F_UNLCK);
  sqlite3_close(writer);
  ::close(probe);
}

TEST_F(ByteLockTest, AnotherFileAtThePathHasAnotherPlace) {
  const SqliteFile before(path_);
  EXPECT_TRUE(before.is_there());
  std::filesystem::rename(path_,
                          path_.string() + ".before");  // so that its number is not given again at once
  EXPECT_FALSE(before.is_there());
  std::ofstream(path_) << "";
  EXPECT_FALSE(before.is_there());
  EXPECT_NE(SqliteFile(path_).place(), before.place());
}

}  // namespace
}  // namespace lockstep
