#include "replicator/source/postgres/define/query_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

TEST(QueryPlanTest, WhatIsAskedForHasNoAliasOfItsTable) {
  EXPECT_EQ(asked_expression("x", "((((x.a)::text || x.b) = ANY ($1)) AND x.c)"), "((a)::text || b)");
  EXPECT_EQ(asked_expression("A", R"((('k'::text || ("A".d)::text) = ANY ($1)))"),
            "('k'::text || (d)::text)");
  EXPECT_EQ(asked_expression("x", "(x.id = ANY ($1))"), "id");
  EXPECT_EQ(asked_expression("x", "(x.id = 1)"), "");
  EXPECT_EQ(asked_expression("x", "((ax.b || x.c) = ANY ($1))"), "(ax.b || c)");
}

TEST(QueryPlanTest, AnExpressionOfSeveralTablesIsTold) {
  EXPECT_EQ(asked_of_join("n", "(((n.a)::text || p.title) = ANY ($1))"), "((a)::text || p.title)");
  EXPECT_EQ(asked_of_join("n", "((n.a || 'p.title'::text) = ANY ($1))"), "");
  EXPECT_EQ(asked_of_join("q", "(((n.a)::text || p.title) = ANY ($1))"), "");
}

TEST(QueryPlanTest, EachNodeThatReadsATableIsFoundWithItsConditions) {
  const auto plan = nlohmann::json::parse(
      R"json({"Hash Cond": "(a = b)", "Plans": [{"Relation Name": "a", "Filter": "f"}, {"Plans": [{"Relation Name": "b"}]}]})json");
  ASSERT_EQ(table_reads(plan).size(), 2u);
  EXPECT_EQ(own_conditions_of(*table_reads(plan)[0]).substr(0, 2), "f\n");
  EXPECT_NE(conditions_of(plan).find("(a = b)"), std::string::npos);
}

TEST(QueryPlanTest, ANameIsTheSameInQuotationMarks) {
  EXPECT_TRUE(is_name("posts", "posts"));
  EXPECT_TRUE(is_name("Odd \"one\"", R"("Odd ""one""")"));
  EXPECT_FALSE(is_name("posts", "users"));
}

}  // namespace
}  // namespace lockstep
