#include "replicator/source/postgres/session/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PostgresArrayTest, WritesWhatPostgresqlReads) {
  EXPECT_EQ(array_literal({}), "{}");
  EXPECT_EQ(array_literal({"1", "22"}), R"({"1","22"})");
  EXPECT_EQ(array_literal({""}), R"({""})");
  EXPECT_EQ(array_literal({R"(a"b\c)"}), R"({"a\"b\\c"})");
}

TEST(PostgresArrayTest, WritesIdsOfEveryKind) {
  EXPECT_EQ(ids_literal(DocumentIds{{"1"}, {"a,b"}}), R"({"1","a,b"})");
  EXPECT_EQ(ids_literal(std::vector<CaptureId>{{1}, {22}}), R"({"1","22"})");
  EXPECT_EQ(ids_literal(std::vector<IndexId>{{3}}), R"({"3"})");
}

TEST(PostgresArrayTest, TheWordNullAndBracesAreValuesWhenQuoted) {
  EXPECT_EQ(array_literal({"null", "{}", "a,b"}), R"({"null","{}","a,b"})");
}

TEST(PostgresArrayTest, ReadsWhatPostgresqlWrites) {
  EXPECT_THAT(parse_array("{}"), IsEmpty());
  EXPECT_THAT(parse_array("{1,22,333}"), ElementsAre("1", "22", "333"));
  EXPECT_THAT(parse_array(R"({plain,"with, comma","a\"b\\c",""})"),
              ElementsAre("plain", "with, comma", R"(a"b\c)", ""));
}

TEST(PostgresArrayTest, NullsAreLeftOutAndTheWordNullIsNot) {
  EXPECT_THAT(parse_array(R"({NULL,1,"NULL",NULL})"), ElementsAre("1", "NULL"));
}

// libpqxx ended the program, or left the apostrophes out.
TEST(PostgresArrayTest, AnApostropheIsNoQuotationMark) {
  EXPECT_THAT(parse_array(R"({'tis,'a','',it's,"'with, comma'"})"),
              ElementsAre("'tis", "'a'", "''", "it's", "'with, comma'"));
}

TEST(PostgresArrayTest, WhatIsNoArrayIsAnError) {
  for (const char* text :
       {"", "{", "a", "{a", "{,}", "{a,}", "{\"a}", "{\"a\"b}", "{a\"b}", "{{a}}", "{\"a\\}"})
    EXPECT_THROW(parse_array(text), Error) << text;
}

TEST(PostgresArrayTest, ASinglePlainValueIsPartOfTheText) {
  EXPECT_EQ(single_plain_value("{1}"), "1");
  EXPECT_EQ(single_plain_value("{it's}"), "it's");
  EXPECT_EQ(single_plain_value("{null}"), "null");
  for (const char* text : {"", "{", "}", "{}", "a", "{a", "a}", "{1,2}", "{NULL}", "{\"NULL\"}", "{\"a\"}",
                           "{a\\}", "{{a}}", "{a}}"})
    EXPECT_EQ(single_plain_value(text), std::nullopt) << text;
}

TEST(PostgresArrayTest, EveryCharacterComesBack) {
  const std::vector<std::string> values = {
      "a b",       "a/b",  "it's", R"("quoted")", R"(back\slash)", "100 %", "line\nbreak",
      "tab\there", "ключ", "日本", "😀",           "{a,b}",         "null",  "",
      " "};
  EXPECT_EQ(parse_array(array_literal(values)), values);
}

}  // namespace
}  // namespace lockstep
