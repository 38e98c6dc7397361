#include "replicator/utf8.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Utf8Test, TellsUtf8FromOtherBytes) {
  for (const char* text : {"", "cafe", "café", "日本", "\xF0\x9F\x98\x80"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* bytes : {"caf\xE9", "\xFF", "\xE6\x97", "\xED\xA0\x80"}) EXPECT_FALSE(is_utf8(bytes));
}

TEST(Utf8Test, WhatIsNotUtf8IsReplacedAndTheRestStays) {
  EXPECT_EQ(as_utf8("\"a\\b\"\n"), "\"a\\b\"\n");
  EXPECT_EQ(as_utf8("caf\xE9 \"日本\""), "caf\xEF\xBF\xBD \"日本\"");
}

}  // namespace
}  // namespace lockstep
