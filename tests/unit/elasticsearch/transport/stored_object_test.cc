#include "replicator/elasticsearch/transport/stored_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "replicator/error.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    return error.what();
  }
  return "no error";
}

TEST(StoredObjectTest, ANumberInTextIsThatNumberAndAnythingElseIsRefused) {
  const auto number = [](const char* value) {
    const json source = {{"fence", json::parse(value)}};
    return StoredObject("the document 17", source).integer("fence");
  };
  EXPECT_EQ(number("12"), 12);
  EXPECT_EQ(number(R"("12")"), 12);
  EXPECT_EQ(number(R"("-12")"), -12);
  EXPECT_EQ(number("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* value :
       {"12.0", "true", "[12]", "{}", R"("")", R"(" 12")", R"("12.0")", R"("0x12")", R"("twelve")",
        R"("9223372036854775808")", "9223372036854775808", "18446744073709551615"}) {
    EXPECT_EQ(error_of([&] { (void)number(value); }),
              "reading the document 17: its fence is " + json::parse(value).dump() +
                  ", not a whole number; it was written by something else, or by a newer lockstep: use that "
                  "version, or else correct it or delete it");
  }
}

TEST(StoredObjectTest, WhatMayBeMissingIsToldFromWhatIsOfAnotherType) {
  const json source = json::parse(R"({"a": null, "b": "text", "c": 7, "d": {"e": [1]}})");
  const StoredObject stored("the lock /", source);
  EXPECT_FALSE(stored.text_if_any("a"));
  EXPECT_FALSE(stored.integer_if_any("z"));
  EXPECT_FALSE(stored.object_if_any("z"));
  EXPECT_EQ(stored.array_if_any("z"), json::array());
  EXPECT_EQ(stored.text("b"), "text");
  EXPECT_THAT(error_of([&] { (void)stored.text("a"); }), HasSubstr("the lock /: it has no a"));
  EXPECT_THAT(error_of([&] { (void)stored.integer("z"); }), HasSubstr("it has no z"));
  EXPECT_THAT(error_of([&] { (void)stored.text_if_any("c"); }), HasSubstr("its c is 7, not a text"));
  EXPECT_THAT(error_of([&] { (void)stored.object_if_any("c"); }), HasSubstr("its c is 7, not an object"));
  EXPECT_THAT(error_of([&] { (void)stored.array_if_any("c"); }), HasSubstr("its c is 7, not a list"));
  EXPECT_THAT(error_of([&] { (void)stored.object("d").integer("e"); }), HasSubstr("its d.e is [1]"));
}

TEST(StoredObjectTest, AnErrorQuotesAValueOnlyInPart) {
  const json source = {{"fence", std::string(100'000, 'x')}};
  EXPECT_THAT(error_of([&] { (void)StoredObject("the document 17", source).integer("fence"); }),
              SizeIs(testing::Lt(400u)));
}

TEST(StoredObjectTest, AnIndexWithoutSourcesIsNotReadAsEmptyDocuments) {
  EXPECT_THAT(error_of([] { (void)stored_source("the lock /", json::object()); }),
              AllOf(StartsWith("reading the lock /: "), HasSubstr("_source")));
}

}  // namespace
}  // namespace lockstep
