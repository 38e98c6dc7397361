#include "replicator/cli/text/plan_text.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const std::vector<PlanStep> kSteps = {
    {PlanStep::Action::kCreate, "trigger t on blog.users", "", "create trigger t\n  after insert"},
    {PlanStep::Action::kChange, "index posts-000001", "field title: new", ""},
    {PlanStep::Action::kDrop, "function f()", "nobody tracks it", "drop function f()"},
};

TEST(PlanTextTest, TheStepsAreCounted) {
  using Action = PlanStep::Action;
  EXPECT_EQ(count_text({{Action::kCreate, "schema", "", ""},
                        {Action::kCreate, "table", "", ""},
                        {Action::kDrop, "trigger", "", ""}}),
            "2 to create, 0 to change, 1 to delete\n");
}

TEST(PlanTextTest, EachStepIsALine) {
  EXPECT_EQ(plan_text(kSteps, Sql::kHidden),
            "+ create trigger t on blog.users\n"
            "~ change index posts-000001: field title: new\n"
            "- drop function f(): nobody tracks it\n");
}

TEST(PlanTextTest, OnATerminalTheMarksHaveColours) {
  EXPECT_EQ(plan_text(kSteps, Sql::kHidden, Colour::kOn),
            "\033[32m+ create \033[0mtrigger t on blog.users\n"
            "\033[33m~ change \033[0mindex posts-000001: field title: new\n"
            "\033[31m- drop \033[0mfunction f(): nobody tracks it\n");
}

TEST(PlanTextTest, TheStatementsStandBelowIndented) {
  EXPECT_EQ(plan_text(kSteps, Sql::kShown),
            "+ create trigger t on blog.users\n"
            "    create trigger t\n"
            "      after insert\n"
            "~ change index posts-000001: field title: new\n"
            "- drop function f(): nobody tracks it\n"
            "    drop function f()\n");
}

TEST(PlanTextTest, OfAnIndexThatNeedsANewOneEachDifferenceSaysWhatItNeeds) {
  using Way = MappingDifference::Way;
  using Reach = MappingDifference::Reach;
  IndexPlan plan;
  plan.kind = IndexPlan::Kind::kReindex;
  plan.alias = "posts";
  plan.differences = {
      {"field a.raw", "", "", "keyword", Way::kInPlace, Reach::kLaterWrites, {}},
      {"field a", "search_analyzer", "", "simple", Way::kInPlace, Reach::kEveryDocument, {}},
      {"field b", "type", "text", "long", Way::kNewIndex, Reach::kEveryDocument, {}},
      {"setting index.codec", "", "", "default", Way::kClosedIndex, Reach::kEveryDocument, {}}};
  EXPECT_EQ(ways_text(plan),
            "    field a.raw: new, keyword: in place, and every document is written again\n"
            "    field a: search_analyzer is not set, wanted simple: in place\n"
            "    field b: type is text, wanted long: needs `lockstep reindex posts`\n"
            "    setting index.codec is not set, wanted default: needs a closed index, which cannot be "
            "searched, or "
            "`lockstep reindex posts`\n");
  plan.kind = IndexPlan::Kind::kUpdate;
  plan.index = "posts-000001";
  EXPECT_EQ(
      ways_text(plan),
      "! index posts-000001: field b: type is text, wanted long: needs `lockstep reindex posts`\n"
      "! index posts-000001: setting index.codec is not set, wanted default: needs a closed index, which "
      "cannot be searched, or `lockstep reindex posts`\n")
      << "its changes are steps, and only what no apply can do is named here";
}

TEST(PlanTextTest, GrantsCanBePastedIntoPsql) {
  EXPECT_EQ(
      grants_text("lockstep", {"grant usage on schema blog to lockstep"}),
      "\n-- The rights that \"lockstep\" needs for lockstep run:\ngrant usage on schema blog to lockstep;\n");
  EXPECT_EQ(grants_text("lockstep", {}), "");
}

TEST(PlanTextTest, FindingsSayHowSevereTheyAre) {
  EXPECT_EQ(finding_text({Finding::Severity::kError, "blog.toml:12", "it is not tracked", "add a track"}),
            "error: blog.toml:12: it is not tracked; add a track\n");
  EXPECT_EQ(finding_text({Finding::Severity::kWarning, "", "it depends on the time", ""}),
            "warning: it depends on the time\n");
}

}  // namespace
}  // namespace lockstep
