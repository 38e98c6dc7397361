#include "replicator/source/postgres/session/migrations.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep {
namespace {

// A released migration has run in somebody's database and must never change. A new one is added here with its
// release.
const std::map<std::string, std::string> kReleased = {};

TEST(PostgresMigrationsTest, ReleasedMigrationsAreFrozen) {
  std::map<std::string, std::string> checksums;
  for (const Migration& migration : read_migrations(postgresql_migrations())) {
    checksums.emplace(migration.name, migration.checksum);
  }
  for (const auto& [name, checksum] : kReleased) {
    ASSERT_TRUE(checksums.contains(name)) << name << " is gone";
    EXPECT_EQ(checksums[name], checksum) << name << " was changed: write a new migration instead";
  }
}

TEST(PostgresMigrationsTest, AreNumberedWithoutGaps) {
  const EmbeddedFile first{"0001_a.sql", "a"};
  const EmbeddedFile second{"0002_b.sql", "b"};
  const EmbeddedFile third{"0003_c.sql", "c"};
  EXPECT_EQ(read_migrations(std::vector{first, second}).at(1).name, "0002_b");
  EXPECT_THROW(read_migrations(std::vector{first, third}), std::logic_error);
  EXPECT_THROW(read_migrations(std::vector{second}), std::logic_error);
  EXPECT_THROW(read_migrations(std::vector{EmbeddedFile{"readme.sql", ""}}), std::logic_error);
}

TEST(PostgresMigrationsTest, AnyEditChangesTheChecksum) {
  const EmbeddedFile before{"0001_a.sql", "create table a ();"};
  const EmbeddedFile after{"0001_a.sql", "create table a (); "};
  EXPECT_NE(read_migrations(std::vector{before})[0].checksum,
            read_migrations(std::vector{after})[0].checksum);
}

}  // namespace
}  // namespace lockstep
