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

}  // namespace
}  // namespace lockstep
