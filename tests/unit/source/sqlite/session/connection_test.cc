// Whose file it is: what SQLite makes beside it must stay the application's.
#include "replicator/source/sqlite/session/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replicator/error.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr uid_t kNobody = 65'534;

uid_t owner_of(const std::filesystem::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) throw std::runtime_error("no " + file.string());
  return found.st_uid;
}

TEST(SqliteConnectionTest, TheFilesThatSqliteMakesBelongToWhoeverOwnsTheDatabase) {
  const ApplicationFolder folder;
  SourceConfig source;
  source.database = folder.file("app.db");
  { Application(source.database).execute("create table t (n)"); }
  if (geteuid() == 0) {
    ASSERT_EQ(chown(source.database.c_str(), kNobody, kNobody), 0);
  }
  SqliteConnection connection(source);
  SqliteWrite write(connection, "a test");
  connection.execute("a test", "insert into t values (1)");
  write.commit("a test");
  for (const char* const suffix : {"-wal", "-shm"})
    EXPECT_EQ(owner_of(source.database.string() + suffix), owner_of(source.database)) << suffix;
}

// Its -wal and -shm would belong to lockstep's user, and the application could write no more.
TEST(SqliteConnectionTest, AFileOfAnotherUserIsNotOpened) {
  const bool is_root = geteuid() == 0;
  SourceConfig source;
  source.database = "/etc/passwd";  // of root
  ASSERT_EQ(seteuid(is_root ? kNobody : geteuid()), 0);
  EXPECT_THAT([&] { SqliteConnection connection(source); },
              ThrowsMessage<UsageError>(HasSubstr("run lockstep as the application's user")));
  ASSERT_EQ(seteuid(is_root ? 0 : geteuid()), 0);
}

}  // namespace
}  // namespace lockstep
