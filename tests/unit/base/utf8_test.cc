#include "replicator/utf8.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(IsUtf8, KnowsWholeCharacters) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("Zoë 🙂"));
}

TEST(IsUtf8, RefusesLatin1CutCharactersAndSurrogates) {
  EXPECT_FALSE(is_utf8("Zo\xeb"));
  EXPECT_FALSE(is_utf8("\xf0\x9f\x99"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
}

TEST(AsUtf8, ReplacesWhatIsNotUtf8AndKeepsTheRest) {
  EXPECT_EQ(as_utf8("\"a\\b\"\n"), "\"a\\b\"\n");
  EXPECT_EQ(as_utf8("caf\xE9 \"日本\""), "caf\xEF\xBF\xBD \"日本\"");
}

}  // namespace
}  // namespace lockstep
