#include "replicator/pipeline/repair/canonical_json.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(CanonicalJsonTest, WhiteSpaceAndTheOrderOfMembersDoNotCount) {
  EXPECT_EQ(canonical_json("{ \"b\" : [ 1 ,\n true, null ],\t\"a\":{} }"), R"({"a":{},"b":[1,true,null]})");
}

TEST(CanonicalJsonTest, TheOrderOfElementsAndOfEqualNamesCounts) {
  EXPECT_NE(canonical_json("[1,2]"), canonical_json("[2,1]"));
  EXPECT_NE(canonical_json(R"({"a":1,"a":2})"), canonical_json(R"({"a":2,"a":1})"));
}

TEST(CanonicalJsonTest, InAnyOrderElementsAreComparedAsABag) {
  EXPECT_TRUE(same_json_in_any_order(R"({"a":[1,{"b":[2,3]}]})", R"({"a":[{"b":[3,2]},1.0]})"));
  EXPECT_FALSE(same_json_in_any_order("[1,1,2]", "[1,2,2]"));
  EXPECT_FALSE(same_json_in_any_order("[1,2]", "[1,2,2]"));
  EXPECT_FALSE(same_json_in_any_order("[[1,2],[3]]", "[[1],[2,3]]"));
  const std::string large(10'000, 'x');
  EXPECT_TRUE(same_json_in_any_order("[\"" + large + "\",\"" + large + "y\"]",
                                     "[\"" + large + "y\",\"" + large + "\"]"));
  EXPECT_TRUE(has_same_members_in_any_order(R"({"a":[1,2]})", R"({"a":[2,1],"b":0})"));
  EXPECT_FALSE(has_same_members_in_any_order(R"({"a":[1,2]})", R"({"a":[2],"b":0})"));
}

TEST(CanonicalJsonTest, EscapedCharactersAreTheCharacters) {
  EXPECT_EQ(canonical_json(R"("\u00e9\/\n")"), canonical_json("\"é/\\u000a\""));
}

TEST(CanonicalJsonTest, NumbersAreComparedByValueAndNoDigitIsLost) {
  EXPECT_EQ(canonical_json("1.10"), canonical_json("1.1"));
  EXPECT_EQ(canonical_json("1e2"), canonical_json("100"));
  EXPECT_EQ(canonical_json("100.0"), canonical_json("1E+2"));
  EXPECT_EQ(canonical_json("-0.0"), canonical_json("0"));
  EXPECT_EQ(canonical_json("0.001"), canonical_json("1e-3"));
  EXPECT_NE(canonical_json("1"), canonical_json("-1"));
  EXPECT_NE(canonical_json("12345678901234567890.1"), canonical_json("12345678901234567890.2"));
  EXPECT_NE(canonical_json("123456789012345678901"), canonical_json("123456789012345678902"));
}

TEST(CanonicalJsonTest, OddNumbersAreEqualByValueAlone) {
  for (const char* one : {"1", "1.0", "1.000", "10e-1", "0.1e1", "1E0", "100e-2"})
    EXPECT_TRUE(same_json(one, "1")) << one;
  for (const char* thousand : {"1e3", "1E+3", "1000", "1000.0", "0.001e6", "10e2"})
    EXPECT_TRUE(same_json(thousand, "1000")) << thousand;
  for (const char* zero : {"0", "-0", "0.0", "-0.0", "0e5", "-0E-7"})
    EXPECT_TRUE(same_json(zero, "0")) << zero;
  EXPECT_FALSE(same_json("9007199254740993", "9007199254740992")) << "a double has one for both";
  EXPECT_FALSE(same_json("9223372036854775808", "9223372036854775807"));
  EXPECT_FALSE(same_json("18446744073709551616", "18446744073709551615"));
  EXPECT_FALSE(same_json("1e-400", "0"));
  EXPECT_FALSE(same_json("0.1", "0.10000000000000001"));
  EXPECT_FALSE(same_json("1", "true"));
}

TEST(CanonicalJsonTest, EscapesNamesAndDuplicatesAreComparedAsText) {
  EXPECT_TRUE(same_json(R"({"\u0061":"\ud83d\ude00"})", "{\"a\":\"\xF0\x9F\x98\x80\"}"));
  EXPECT_FALSE(same_json(R"("\u00e9")", R"("e\u0301")")) << "no normalisation";
  EXPECT_FALSE(same_json(R"("\u0000")", R"("")"));
  EXPECT_TRUE(
      same_json(R"({"a":{"b":1,"c":[{"d":1,"e":2}]},"f":0})", R"({"f":0,"a":{"c":[{"e":2,"d":1}],"b":1}})"));
  EXPECT_FALSE(same_json(R"({"a":1})", R"({"a":1,"a":1})"));
  EXPECT_FALSE(same_json(R"({"a":null})", "{}"));
}

TEST(CanonicalJsonTest, ATextIsNotANumber) {
  EXPECT_NE(canonical_json(R"("1")"), canonical_json("1"));
}

TEST(CanonicalJsonTest, WhatIsNotJsonIsNone) {
  EXPECT_EQ(canonical_json("{\"a\":"), std::nullopt);
  EXPECT_EQ(canonical_json(""), std::nullopt);
  EXPECT_EQ(canonical_json("\"\xff\""), std::nullopt);
}

// A document that is large, in each shape that makes it large.
class LargeCanonicalJson : public testing::TestWithParam<std::string (*)(const std::string& last)> {};

TEST_P(LargeCanonicalJson, IsShortAndTellsWhatDiffersAtTheEnd) {
  const std::string text = GetParam()("1");
  ASSERT_GT(text.size(), 100'000u);
  ASSERT_TRUE(canonical_json(text));
  EXPECT_LT(canonical_json(text)->size(), 10'000u);
  EXPECT_TRUE(same_json(text, " " + GetParam()("1.0")));
  EXPECT_FALSE(same_json(text, GetParam()("2")));
  EXPECT_TRUE(has_same_members("{\"a\":" + text + "}", "{\"b\":0,\"a\":" + GetParam()("1.0") + "}"));
  EXPECT_FALSE(has_same_members("{\"a\":" + text + "}", "{\"b\":0,\"a\":" + GetParam()("2") + "}"));
}

std::string repeated(std::string_view part) {
  std::string all;
  while (all.size() < 100'000) all += part;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LargeCanonicalJson,
    testing::Values(
        [](const std::string& last) { return "[\"" + repeated("text ") + "\"," + last + "]"; },
        [](const std::string& last) { return "[" + repeated(R"({"a":1,"b":"c"},)") + last + "]"; },
        [](const std::string& last) { return "{" + repeated(R"("a":[],)") + "\"b\":" + last + "}"; },
        [](const std::string& last) { return "[0." + repeated("12") + "," + last + "]"; }));

TEST(CanonicalJsonTest, ALongTextIsNoNumberAndNoArray) {
  const std::string digits = "0." + std::string(10'000, '1');
  ASSERT_TRUE(canonical_json(digits));
  EXPECT_FALSE(same_json(digits, '"' + digits + '"'));
  EXPECT_FALSE(same_json(digits, '[' + digits + ']'));
  EXPECT_FALSE(same_json(R"("[)" + digits + R"(]")", '[' + digits + ']'));
}

TEST(CanonicalJsonTest, FurtherMembersDoNotCountWhereOnlyThoseOfOneSideAreCompared) {
  EXPECT_TRUE(has_same_members(R"({"a":1,"b":{"c":2}})", R"({"b":{"c":2.0},"stamp":"now","a":1})"));
  EXPECT_FALSE(has_same_members(R"({"a":1})", R"({"a":2,"b":1})"));
  EXPECT_FALSE(has_same_members(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(has_same_members(R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2}})")) << "inside a field all count";
  EXPECT_FALSE(has_same_members(R"({"a":1})", "[1]"));
  EXPECT_FALSE(has_same_members(R"({"a":1})", "no JSON"));
}

}  // namespace
}  // namespace lockstep
