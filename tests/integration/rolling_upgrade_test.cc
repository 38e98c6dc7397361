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

  /// As before the migration 0019_due.
  void take_back_due() {
    database_.execute(
        "drop table lockstep.due; "
        "alter table lockstep.job add column behind bigint, add column joined integer not null default 0, "
        "add column transaction xid8, add column read_to bigint; "
        "alter table lockstep.job drop constraint job_kind_check; "
        "create table lockstep.job_page (job bigint not null references lockstep.job on delete cascade, "
        "number bigint not null, ids text[] not null, primary key (job, number)); "
        "create table lockstep.job_change (job bigint not null references lockstep.job on delete cascade, "
        "capture integer not null, keys text[] not null); "
        "alter table lockstep.job add constraint job_kind_check "
        "check (kind in ('backfill', 'comparison', 'fan_out', 'sweep')); "
        "delete from lockstep.migration where number >= 19");
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
    const Completed refused = pipeline_.lockstep("reindex", {option, "--yes"});
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
  take_back_due();
  const auto program = pipeline_.start();
  EXPECT_TRUE(says(*program, "run `lockstep apply`"));
  EXPECT_TRUE(program->running());
  pipeline_.apply();
  EXPECT_TRUE(follows(*program, "after the apply"));
}

TEST_F(RollingUpgrade, TheFanOutsOfAnOlderProgramBecomeDue) {
  database_.execute(
      "insert into items select i, 'item' from generate_series(2, 30) as i on conflict do nothing");
  pipeline_.must("run", {"--until-caught-up"});
  // What it has passed and not written: a list, a change without one, a transaction whose rows are still
  // there.
  database_.execute("update items set name = 'listed' where id between 2 and 10");
  database_.execute("update items set name = 'changed' where id between 11 and 20");
  database_.execute("update items set name = 'large' where id between 21 and 30");
  const std::string large =
      database_.value("select max(txid::text::bigint)::text from lockstep.outbox").value();
  database_.execute(
      "update lockstep.checkpoint set prev = pg_current_snapshot(), cur = null, last_txid = '0', last_id = "
      "0");
  take_back_due();
  database_.execute(
      "insert into lockstep.job (pipeline, index, kind, reason, total) select pipeline, id, 'fan_out', 'a "
      "list', 9 "
      "from lockstep.index; "
      "insert into lockstep.job_page select max(id), 9, array['2','3','4','5','6','7','8','9','10'] from "
      "lockstep.job; "
      "insert into lockstep.job (pipeline, index, kind, reason) select pipeline, id, 'fan_out', 'a change' "
      "from lockstep.index; "
      "insert into lockstep.job_change select (select max(id) from lockstep.job), c.id, "
      "array['11','12','13','14','15','16','17','18','19','20'] from lockstep.capture as c; "
      "insert into lockstep.job (pipeline, index, kind, reason, transaction, read_to) "
      "select pipeline, id, 'fan_out', 'a transaction', '" +
      large + "'::xid8, 0 from lockstep.index");
  pipeline_.apply();
  EXPECT_EQ(database_.number("select count(*) from lockstep.due"), 3);
  pipeline_.must("run", {"--until-caught-up"});
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
  EXPECT_EQ(database_.number("select count(*) from lockstep.due"), 0);
}

}  // namespace
}  // namespace lockstep::support
