// Names and shape of the generated code; what it does is tested on a server
// (tests/integration/postgres_triggers_test.cc).
#include "replicator/source/postgres/define/triggers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kLargePipeline = 2'147'483'647;

TEST(PostgresTriggersTest, NamesFitIntoPostgresqlsLimitAndNeedNoQuotes) {
  const std::string long_name(63, 'x');
  for (const std::string& name :
       {long_name, std::string("дерево \"и\" ;"), std::string("Upper"), std::string("a")}) {
    for (const TriggerEvent event : kTriggerEvents) {
      EXPECT_THAT(trigger_name(name, kLargePipeline, event),
                  AllOf(::testing::SizeIs(::testing::Le(63u)), ::testing::MatchesRegex("[a-z0-9_]+")));
      EXPECT_THAT(trigger_function_name(kLargePipeline, "s.\"" + name + "\"", event),
                  AllOf(::testing::SizeIs(::testing::Le(63u)), ::testing::MatchesRegex("[a-z0-9_]+")));
    }
    EXPECT_THAT(check_function_name(kLargePipeline, "s.\"" + name + "\""),
                AllOf(::testing::SizeIs(::testing::Le(63u)), ::testing::MatchesRegex("[a-z0-9_]+")));
  }
}

TEST(PostgresTriggersTest, FunctionsOfDifferentTablesHaveDifferentNames) {
  std::set<std::string> names;
  for (const char* relation : {"a.b", "a_b.c", "a.b_c", "\"A\".b", "a.\"B\"", "\"a.b\".c"}) {
    names.insert(trigger_function_name(1, relation, TriggerEvent::kUpdate));
  }
  EXPECT_EQ(names.size(), 6u);
}

TEST(PostgresTriggersTest, PipelinesDoNotShareAPrefix) {
  EXPECT_THAT(trigger_function_name(11, "a.b", TriggerEvent::kUpdate),
              Not(::testing::StartsWith(trigger_function_prefix(1))));
}

TEST(PostgresTriggersTest, TriggerSeesTheRowsOfItsEvent) {
  EXPECT_EQ(create_trigger_sql("t", "s.t", "f", TriggerEvent::kInsert),
            "create trigger t after insert on s.t referencing new table as new_rows for each statement "
            "execute function f()");
  EXPECT_THAT(create_trigger_sql("t", "s.t", "f", TriggerEvent::kUpdate),
              HasSubstr("old table as old_rows new table as new_rows"));
  EXPECT_THAT(create_trigger_sql("t", "s.t", "f", TriggerEvent::kTruncate), Not(HasSubstr("referencing")));
}

TEST(PostgresTriggersTest, JoinsOldAndNewRowsInTheOnlyWayThatStaysLinear) {  // T3
  TriggerCode code{"lockstep", "users", {{"id", "="}}, {{7, true, "id", std::vector<std::string>{"name"}}}};
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate),
              AllOf(HasSubstr("full join"), Not(HasSubstr("cross join (select"))));
  code.captures[0].counted.reset();
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate),
              AllOf(Not(HasSubstr("full join")), Not(HasSubstr("record_image_ne"))));
}

TEST(PostgresTriggersTest, KeysThatMayBeEqualAndLookDifferentAreTakenOldAndNew) {  // T1
  TriggerCode code{
      "lockstep", "users", {{"id", "=", true}}, {{7, true, "id", std::vector<std::string>{"name"}}}};
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), Not(HasSubstr("unnest")));
  code.key[0].exact = false;
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), HasSubstr("unnest"));
}

TEST(PostgresTriggersTest, WholeRowsAreComparedByWhatTheyHaveWhenTheTriggerFires) {  // T1
  TriggerCode code{"lockstep", "users", {{"id", "=", true}}, {{7, true, "id", std::vector<std::string>{}}}};
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), Not(HasSubstr("row(users.*)")));
  code.captures[0].whole_row = true;
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), HasSubstr("row(users.*) as w"));
}

TEST(PostgresTriggersTest, ExpressionsAloneAreTriedForEveryRowBeforeAnythingIsWritten) {  // T5
  TriggerCode code{
      "lockstep", "users", {{"id", "=", true}}, {{7, false, "id", std::vector<std::string>{"name"}}}};
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), Not(HasSubstr("num_nulls")));
  code.captures[0].is_expression = true;
  EXPECT_THAT(trigger_body(code, TriggerEvent::kUpdate), HasSubstr("num_nulls(r.v1)"));
  EXPECT_THAT(trigger_body(code, TriggerEvent::kInsert), HasSubstr("num_nulls(r.v1)"));
}

TEST(PostgresTriggersTest, QuotedTextEndsWhereItShould) {
  EXPECT_EQ(dollar_quoted("select 1"), "$lockstep$select 1$lockstep$");
  EXPECT_EQ(dollar_quoted("a $lockstep$ b"), "$lockstep1$a $lockstep$ b$lockstep1$");
}

}  // namespace
}  // namespace lockstep
