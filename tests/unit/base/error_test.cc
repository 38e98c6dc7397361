#include "replicator/error.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ErrorTest, TheMessageIsDoingCauseRemedyInOneLine) {
  const Error error({"creating index posts-000001", "it exists\n", "remove it"});
  EXPECT_STREQ(error.what(), "creating index posts-000001: it exists; remove it");
  EXPECT_FALSE(error.retryable());
}

TEST(ErrorTest, WithoutARemedyNothingFollowsTheCause) {
  const Error error({"connecting", "refused", "", Retry::kLater});
  EXPECT_STREQ(error.what(), "connecting: refused");
  EXPECT_TRUE(error.retryable());
}

}  // namespace
}  // namespace lockstep
