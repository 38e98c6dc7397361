// What `wait` says right after a migration, before a leader has looked at the schema.
#include "replicator/source/sqlite/watch/applied_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "replicator/source/open_source.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using Kind = AppliedState::Kind;

class SqliteAppliedWatchTest : public testing::Test {
 protected:
  SqliteAppliedWatchTest() {
    application_.execute(
        "create table t (id integer primary key, name text); insert into t values (1, 'a');"
        "create view docs as select id as _id, name from t");
    SqliteSourceDefinition(config_).apply({});
    source_ = open_source(config_, "test");
    source_->lead().try_lead();
    source_->lead().raise_epoch({}, {source_->lead().identity().place, {}});
    finish_jobs();
  }

  void finish_jobs() { application_.execute("delete from lockstep_job"); }

  AppliedState look() { return SqliteAppliedWatch(config_).begin(std::nullopt)->look(); }

  // As many tools do it, with another name for the key perhaps.
  void migrate(const std::string& key) {
    application_.execute(
        "begin; drop view docs; create table n (" + key +
        " integer primary key, name text); insert into n select id, name || '!' from t; drop table t; "
        "alter table n rename to t; create view docs as select " +
        key + " as _id, name from t; commit");
  }

  const ApplicationFolder folder_;
  Application application_{folder_.file("app.db")};
  const Config config_ = sqlite_config(folder_.file("app.db"), {sqlite_index("docs", {sqlite_track("t")})});
  std::unique_ptr<Source> source_;
};

TEST_F(SqliteAppliedWatchTest, WaitIsNotContentWhileAMigrationHasDroppedTriggers) {
  ASSERT_EQ(look().kind, Kind::kApplied);
  SqliteAppliedWatch kept(config_);
  ASSERT_EQ(kept.begin(std::nullopt)->look().kind, Kind::kApplied);
  migrate("id");
  EXPECT_EQ(kept.begin(std::nullopt)->look().kind, Kind::kPending) << "a connection that is kept looks, too";
  const AppliedState state = look();
  EXPECT_EQ(state.kind, Kind::kPending);
  EXPECT_THAT(state.reason, HasSubstr("triggers of table t are gone"));
  source_->outbox().follow_parts();
  EXPECT_EQ(look().kind, Kind::kPending) << "the comparison is to come";
  finish_jobs();
  EXPECT_EQ(look().kind, Kind::kApplied);
  EXPECT_EQ(kept.begin(std::nullopt)->look().kind, Kind::kApplied);
}

TEST_F(SqliteAppliedWatchTest, WaitAndCheckSayThatATableWithAnotherKeyIsNotCaptured) {
  migrate("number");
  source_->outbox().follow_parts();
  const std::string missed = "column id of table t is gone, so changes are missed";
  const AppliedState state = look();
  EXPECT_EQ(state.kind, Kind::kPending);
  EXPECT_THAT(state.reason, HasSubstr(missed));
  const auto is_error = AllOf(Field(&Finding::severity, Finding::Severity::kError),
                              Field(&Finding::message, HasSubstr(missed)));
  EXPECT_THAT(SqliteSourceDefinition(config_).check(), Contains(is_error));
  SqliteSourceDefinition(config_).apply({});
  EXPECT_THAT(SqliteSourceDefinition(config_).check(), testing::Not(Contains(is_error)));
  finish_jobs();
  EXPECT_EQ(look().kind, Kind::kApplied);
}

// SQLite renames it in the triggers, too, and in the view, whose text is another now.
TEST_F(SqliteAppliedWatchTest, ARenamedKeyColumnIsStillCaptured) {
  application_.execute("alter table t rename column id to number");
  EXPECT_EQ(look().kind, Kind::kPending);
  EXPECT_THAT(look().reason, HasSubstr("depend on definitions that have changed: "));
  EXPECT_THAT(application_.captured_by("insert into t values (2, 'b')"), testing::ElementsAre("t: 2"));
  EXPECT_THAT(SqliteSourceDefinition(config_).check(),
              Contains(AllOf(Field(&Finding::severity, Finding::Severity::kWarning),
                             Field(&Finding::message,
                                   HasSubstr("column id of table t is gone; run `lockstep apply`")))));
}

}  // namespace
}  // namespace lockstep
