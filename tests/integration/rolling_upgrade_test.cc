// Programs of one version beside a schema of another: what can serve goes on, the others wait and say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

class RollingUpgrade : public testing::Test {
 protected:
  RollingUpgrade() : pipeline_(database_) {
    database_.execute(
        "create table items (id integer primary key, name text); insert into items values (1, 'one'); "
        "create view items_view as select id as _id, name from items");
    pipeline_.add_index("items", "public.items_view", track("public.items"));
    pipeline_.apply();
    newest_ = database_.number("select max(number) from lockstep.migration");
  }

  /// As a newer lockstep would, whose migration adds nothing that this one needs to know.
  void migrate_further(const std::string& oldest_program) {
    database_.execute(
        "insert into lockstep.migration (number, name, checksum, applied_by, oldest_program) values (" +
        std::to_string(newest_ + 1) + ", 'more', 'x', '99.0.0', " + oldest_program + ")");
  }
  bool follows(Program& program, const std::string& name) {
    database_.execute("update items set name = '" + name + "' where id = 1");
    const std::string difference = pipeline_.difference_within(kPatience);
    EXPECT_EQ(difference, "") << program.err();
    return difference.empty();
  }
  std::string reindex() {
    return database_.value("select state || ' ' || live_name || coalesce(wanted, '') from lockstep.reindex")
        .value();
  }
  bool says(Program& program, const std::string& text) {
    return wait_until([&] { return program.err().find(text) != std::string::npos; }, kPatience);
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::int64_t newest_ = 0;
};

TEST_F(RollingUpgrade, AnOlderProgramGoesOnWithANewerSchemaThatItKnowsEnoughOf) {
  migrate_further(std::to_string(newest_));
  const auto program = pipeline_.start();
  EXPECT_TRUE(follows(*program, "served"));
  EXPECT_EQ(pipeline_.lockstep("status").exit_code, 0);
  EXPECT_EQ(pipeline_.lockstep("apply", {"--yes"}).exit_code, 2) << "an older program changes nothing";
}

TEST_F(RollingUpgrade, AnOlderProgramWaitsForAnUpgradeOfItselfAndSaysSo) {
  migrate_further("null");
  const auto program = pipeline_.start();
  EXPECT_TRUE(says(*program, "was migrated by a newer lockstep"));
  EXPECT_TRUE(program->running());
  EXPECT_EQ(pipeline_.lockstep("status").exit_code, 2);
  database_.execute("delete from lockstep.migration where name = 'more'");
  EXPECT_TRUE(follows(*program, "again"));
}

TEST_F(RollingUpgrade, AnOlderProgramLeavesAReindexAsItIs) {
  const auto newer = pipeline_.start();
  pipeline_.must("reindex", {"--keep", "1h", pipeline_.index("items").alias()});
  migrate_further("null");
  const std::string before = reindex();
  for (const char* const option : {"--keep=1h", "--back", "--finish", "--abort", "--dry-run"}) {
    const Completed refused = pipeline_.lockstep("reindex", {option});
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, testing::HasSubstr("was migrated by a newer lockstep")) << option;
  }
  const auto older = pipeline_.start();
  EXPECT_TRUE(says(*older, "was migrated by a newer lockstep"));
  EXPECT_EQ(reindex(), before);
  EXPECT_EQ(pipeline_.index("items").concrete().size(), 2u);
  database_.execute("delete from lockstep.migration where name = 'more'");
  pipeline_.must("reindex", {"--back"});
  EXPECT_TRUE(follows(*older, "back"));
}

TEST_F(RollingUpgrade, ANewerProgramWaitsForTheApplyAndSaysSo) {
  // As before the newest migration, 0018_origins, which makes or replaces a function.
  database_.execute("delete from lockstep.migration where number = " + std::to_string(newest_));
  const auto program = pipeline_.start();
  EXPECT_TRUE(says(*program, "run `lockstep apply`"));
  EXPECT_TRUE(program->running());
  pipeline_.apply();
  EXPECT_TRUE(follows(*program, "after the apply"));
}

}  // namespace
}  // namespace lockstep::support
