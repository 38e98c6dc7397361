#include "replicator/elasticsearch/transport/text_encoding.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(PercentEncoded, LeavesOnlyWhatAnUrlNeverInterprets) {
  EXPECT_EQ(percent_encoded("Az09-_~"), "Az09-_~");
  EXPECT_EQ(percent_encoded("a b/c?d#e%f+g&h=i,j:k*"), "a%20b%2Fc%3Fd%23e%25f%2Bg%26h%3Di%2Cj%3Ak%2A");
  EXPECT_EQ(percent_encoded("é"), "%C3%A9");
}

TEST(PercentEncoded, NeverGivesAFolder) {
  EXPECT_EQ(percent_encoded("."), "%2E");
  EXPECT_EQ(percent_encoded(".."), "%2E.");
  EXPECT_EQ(percent_encoded("a.b"), "a.b");
}

}  // namespace
}  // namespace lockstep
