// The schema changes under a running pipeline: it is noticed and named, and what can go on goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/items_and_others.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class SchemaChanges : public testing::Test {
 protected:
  SchemaChanges() : pipeline_(database_) {
    add_items_and_others(pipeline_);
    pipeline_.apply();
  }

  void SetUp() override {
    program_ = pipeline_.start();
    ASSERT_EQ(pipeline_.difference_within(kPatience), "");
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err();
  }

  std::string set_aside(const std::string& purpose) {
    return pipeline_.status().at("indices").at(pipeline_.index(purpose).alias()).at("set_aside");
  }
  bool is_set_aside(const std::string& purpose) {
    return wait_until([&] { return !set_aside(purpose).empty(); }, kPatience);
  }
  bool others_follow(const std::string& name) {
    database_.execute("update others set name = '" + name + "' where id = 1");
    return wait_until(
        [&] { return pipeline_.index("others").get("1")->json.find(name) != std::string::npos; }, kPatience);
  }
  bool becomes_equal() {
    return wait_until([&] { return set_aside("items").empty() && pipeline_.difference().empty(); },
                      seconds(60));
  }
  std::string warnings() { return pipeline_.status().at("warnings").dump(); }
  bool warns_of(const std::string& text) {
    return wait_until([&] { return warnings().find(text) != std::string::npos; }, kPatience);
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
};

TEST_F(SchemaChanges, AViewThatIsGoneHoldsNoOtherUpAndIsComparedWhenItIsBack) {
  database_.execute("drop view items_view; update items set name = 'changed' where id <= 10");
  ASSERT_TRUE(is_set_aside("items"));
  EXPECT_THAT(set_aside("items"), HasSubstr("items_view"));
  EXPECT_TRUE(others_follow("meanwhile"));
  EXPECT_TRUE(wait_until([&] { return pipeline_.status().at("state") == "following"; }, kPatience));
  database_.execute("delete from items where id = 20; insert into items values (100, 'new')");
  EXPECT_TRUE(others_follow("later"));
  EXPECT_TRUE(program_->running());

  database_.execute(kItemsView);
  EXPECT_TRUE(becomes_equal());
  database_.execute("update items set name = 'again' where id = 30");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(database_.number("select count(*) from lockstep.job"), 0);
}

TEST_F(SchemaChanges, AnotherViewOfThatNameIsSetAsideUntilItIsApplied) {
  database_.execute(
      "drop view items_view; create view items_view as select id as _id, name as title from items; "
      "update items set name = 'changed' where id = 1");
  ASSERT_TRUE(is_set_aside("items"));
  EXPECT_THAT(set_aside("items"), HasSubstr("does not exist"));
  EXPECT_TRUE(others_follow("meanwhile"));
  program_->kill();
  const Completed run = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("not all indices could be followed"));
  pipeline_.apply();
  program_ = pipeline_.start();
  EXPECT_TRUE(becomes_equal());
}

TEST_F(SchemaChanges, ARowThatMakesTheViewFailIsTheMatterOfItsIndexAlone) {
  database_.execute("update items set n = 0 where id = 5");
  ASSERT_TRUE(is_set_aside("items"));
  EXPECT_THAT(set_aside("items"), HasSubstr("division by zero"));
  EXPECT_TRUE(others_follow("meanwhile"));
  database_.execute("update items set n = 5, name = 'mended' where id = 5");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(SchemaChanges, TriggersThatAreDisabledAreNamedAndMendedByApply) {
  database_.execute("alter table items disable trigger all; update items set name = 'unseen' where id = 1");
  EXPECT_TRUE(warns_of("changes of public.items are not followed")) << warnings();
  EXPECT_THAT(program_->err(), HasSubstr("changes of public.items are not followed"));
  EXPECT_TRUE(others_follow("meanwhile"));
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(wait_until([&] { return warnings() == "[]"; }, kPatience)) << warnings();
}

TEST_F(SchemaChanges, AViewThatWasReplacedAndATableThatWasRenamedAreNamed) {
  database_.execute(
      "create or replace view items_view as select id as _id, name, 100 / n as share, n from items; "
      "alter table others rename to strangers");
  EXPECT_TRUE(warns_of("view public.items_view changed since the last apply")) << warnings();
  EXPECT_TRUE(warns_of("table public.others is gone")) << warnings();
  // The old shape is followed meanwhile, and so is the table that PostgreSQL knows by more than its name.
  database_.execute(
      "update items set name = 'changed' where id = 2; update strangers set name = 'x' where id = 3");
  EXPECT_TRUE(
      wait_until([&] { return pipeline_.index("others").get("3")->json.find("\"x\"") != std::string::npos; },
                 kPatience));
  EXPECT_EQ(pipeline_.index("items").get("2")->json.find("\"n\""), std::string::npos);
  pipeline_.set_tracks("others", track("public.strangers"));
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal());
  EXPECT_NE(pipeline_.index("items").get("2")->json.find("\"n\""), std::string::npos);
}

TEST_F(SchemaChanges, ARenamedColumnFailsNoWriterAndLeavesNoDocumentStale) {
  database_.execute(
      "alter table items rename name to title; update items set title = 'renamed' where id = 1");
  EXPECT_TRUE(warns_of("triggers of public.items do not fit it any more")) << warnings();
  EXPECT_THAT(program_->err(), HasSubstr("column items.name does not exist"));
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(wait_until([&] { return warnings() == "[]"; }, kPatience)) << warnings();
}

TEST_F(SchemaChanges, AColumnAddedBelowAWholeRowIsNamedAndAppearsInEveryDocumentAfterApply) {
  database_.execute(
      "drop view others_view; "
      "create view others_view as select id as _id, to_jsonb(o) as other from others as o");
  pipeline_.apply();
  ASSERT_TRUE(becomes_equal());
  database_.execute("alter table others add column colour text default 'red'");
  EXPECT_TRUE(warns_of("table public.others changed since the last apply")) << warnings();
  const Completed waited = pipeline_.lockstep("wait", {"--timeout", "500ms"});
  EXPECT_EQ(waited.exit_code, 1) << "wait must not be content";
  EXPECT_THAT(waited.err, HasSubstr("table public.others changed since the last apply"));
  database_.execute("update others set colour = 'blue' where id = 7");
  EXPECT_TRUE(wait_until(
      [&] { return pipeline_.index("others").get("7")->json.find("blue") != std::string::npos; }, kPatience));
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  EXPECT_NE(pipeline_.index("others").get("8")->json.find("red"), std::string::npos);
  EXPECT_TRUE(wait_until([&] { return warnings() == "[]"; }, kPatience)) << warnings();
}

TEST_F(SchemaChanges, ARenamedLabelAndAReplacedFunctionAreNamedAndRenderedAnewByApply) {
  database_.execute(
      "create type mood as enum ('sad', 'happy'); alter table others add column mood mood default 'sad'; "
      "create function shout(t text) returns text language sql immutable as 'select upper(t)'; "
      "drop view others_view; "
      "create view others_view as select id as _id, mood, public.shout(name) as name from others");
  pipeline_.apply();
  ASSERT_TRUE(becomes_equal());
  database_.execute(
      "alter type mood rename value 'sad' to 'blue'; "
      "create or replace function shout(t text) returns text language sql immutable as 'select t || ''!'''");
  EXPECT_TRUE(warns_of("function public.shout(text), type public.mood changed since the last apply"))
      << warnings();
  EXPECT_NE(pipeline_.difference(), "");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("function public.shout(text), type public.mood"));
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("changed since the last apply"));
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(SchemaChanges, AViewThatNeedsTheApplicationsSearchPathIsRefusedByApplyAndTheIndexGoesOn) {
  database_.execute(
      "create function label(i integer) returns text language plpgsql stable as "
      "'begin return (select name from others where id = i); end'; "
      "create view labels as select id as _id, public.label(id) as name from others");
  pipeline_.set_view("others", "public.labels");
  const Completed apply = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_NE(apply.exit_code, 0);
  EXPECT_THAT(apply.err, HasSubstr("alter function public.label(integer) set search_path = "));
  EXPECT_TRUE(others_follow("meanwhile"));
  EXPECT_EQ(set_aside("others"), "");
  database_.execute("alter function label(integer) set search_path = public");
  pipeline_.must("reindex", {"--keep", "0s"});
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
