#include "replicator/source/postgres/catalog/sql_text.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::Optional;

bool may_read(std::string_view text) {
  return !calls_of_text_without_reads(text).has_value();
}

TEST(SqlTextTest, TextThatNamesATableMayRead) {
  EXPECT_TRUE(may_read("select z from s.a where id = i"));
  EXPECT_TRUE(may_read("SELECT z FROM s.a"));
  EXPECT_TRUE(may_read("table s.a"));
  EXPECT_TRUE(may_read("select (select z from s.a)"));
  EXPECT_TRUE(may_read("select trim((select z from s.a))"));
  EXPECT_TRUE(may_read("select trim(both from (select z from s.a))"));
  EXPECT_TRUE(may_read("insert into s.a values (1)"));
  EXPECT_TRUE(may_read("select distinct from s.a"));
}

TEST(SqlTextTest, TextThatComputesDoesNot) {
  EXPECT_FALSE(may_read("select lower($1)"));
  EXPECT_FALSE(may_read("select t is not distinct from 'x'"));
  EXPECT_FALSE(may_read("select extract(year from $1) || trim(both ' ' from t)"));
  EXPECT_FALSE(may_read("select 'from s.a' || 'it''s from' -- from s.a\n || '' /* from s.a */"));
  EXPECT_FALSE(may_read("select from_date + 1"));
}

TEST(SqlTextTest, TextThatIsNotUnderstoodMayRead) {
  EXPECT_TRUE(may_read("select \"from\""));
  EXPECT_TRUE(may_read("select $$from$$"));
  EXPECT_TRUE(may_read("select 'x\\' from"));
  EXPECT_TRUE(may_read("select 'no end"));
  EXPECT_TRUE(may_read("select 1 /* no end"));
}

TEST(SqlTextTest, WhatItCallsIsNamed) {
  EXPECT_THAT(calls_of_text_without_reads("select S.Tidy ($1) in (1)"), Optional(Contains("tidy")));
}

}  // namespace
}  // namespace lockstep
