#include "replicator/nearest_name.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(NearestNameTest, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("tabel", "table"), 1U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(NearestNameTest, FindsWhatWasMeantAndNothingElse) {
  EXPECT_EQ(nearest_name("urll", {"url", "schema"}), "url");
  EXPECT_EQ(nearest_name("request_timout", {"connect_timeout", "request_timeout"}), "request_timeout");
  EXPECT_FALSE(nearest_name("colour", {"url", "schema"}));
  EXPECT_FALSE(nearest_name("ab", {"x", "yz"}));
}

}  // namespace
}  // namespace lockstep
