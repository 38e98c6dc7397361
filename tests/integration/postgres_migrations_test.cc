// Lockstep's own schema: how it comes to be and goes on, whoever does it at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "replicator/error.h"
#include "replicator/source/postgres/session/migrations.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr EmbeddedFile kFirst{"0001_first.sql", "create table {schema}.first (a integer);"};
constexpr EmbeddedFile kSecond{
    "0002_second.sql", "create table {schema}.second (a integer); insert into {schema}.first values (2);"};
constexpr EmbeddedFile kFailing{"0002_failing.sql",
                                "create table {schema}.second (a integer); select 1 / 0;"};

class MigrationsTest : public ::testing::Test {
 protected:
  MigrationsTest() {
    source_.url = database_.url();
    source_.password = Secret(database_.password());
    source_.schema = "Own \"schema\"";
  }

  std::vector<std::string> migrate_with(const std::vector<EmbeddedFile>& files) {
    PostgresSession session(source_, "test");
    std::vector<std::string> done;
    migrate(session, source_.schema, read_migrations(files),
            [&](const Migration& migration) { done.emplace_back(migration.name); });
    return done;
  }

  support::PostgresDatabase database_;
  SourceConfig source_;
};

TEST_F(MigrationsTest, EachRunsOnceInOrder) {
  EXPECT_THAT(migrate_with({kFirst}), ::testing::ElementsAre("0001_first"));
  EXPECT_THAT(migrate_with({kFirst}), ::testing::IsEmpty());
  EXPECT_THAT(migrate_with({kFirst, kSecond}), ::testing::ElementsAre("0002_second"));
  EXPECT_EQ(
      database_.number(
          "select count(*) from \"Own \"\"schema\"\"\".migration where applied_by = '" LOCKSTEP_VERSION "'"),
      2);
}

TEST_F(MigrationsTest, OneThatFailsLeavesNothingOfItself) {
  EXPECT_THROW(migrate_with({kFirst, kFailing}), Error);
  EXPECT_EQ(database_.number("select count(*) from pg_class where relname in ('first', 'second')"), 1);
  EXPECT_THAT(migrate_with({kFirst, kSecond}), ::testing::ElementsAre("0002_second"));
}

TEST_F(MigrationsTest, SeveralProcessesAtOnceMigrateOnce) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        done += migrate_with({kFirst, kSecond}).size();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 2u);
}

TEST_F(MigrationsTest, DatabaseOfANewerProgramIsRefused) {
  migrate_with({kFirst, kSecond});
  try {
    migrate_with({kFirst});
    FAIL() << "migrated";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("newer lockstep"), HasSubstr("migration 2"),
                                    HasSubstr("knows 1"), HasSubstr("install")));
  }
}

TEST_F(MigrationsTest, ChangedMigrationIsRefused) {
  migrate_with({kFirst});
  const EmbeddedFile edited{"0001_first.sql", "create table {schema}.first (a bigint);"};
  try {
    migrate_with({edited, kSecond});
    FAIL() << "migrated";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("0001_first"), HasSubstr("must not be changed")));
  }
  EXPECT_EQ(database_.number("select count(*) from pg_class where relname = 'second'"), 0);
}

}  // namespace
}  // namespace lockstep
