#include "replicator/pipeline/document_claims.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(DocumentClaimsTest, ClaimsOnADocumentAreServedInTheirOrder) {
  DocumentClaims claims;
  claims.add(7, 2);
  claims.add(7, 1);
  claims.add(8, 0);
  EXPECT_EQ(claims.count_before(7, 1), 0U);
  EXPECT_EQ(claims.count_before(7, 2), 1U);
  EXPECT_EQ(claims.count_before(7), 2U);
  claims.remove(7, 1);
  EXPECT_EQ(claims.count_before(7, 2), 0U);
  EXPECT_EQ(claims.count_before(9), 0U);
}

// A document's deletes under old routings are in the request of its write.
TEST(DocumentClaimsTest, ARequestThatNamesADocumentTwiceHasOneClaimOnItUntilBothAreDone) {
  DocumentClaims claims;
  claims.add(7, 1);
  claims.add(7, 1);
  EXPECT_EQ(claims.count_before(7), 1U);
  claims.remove(7, 1);
  EXPECT_TRUE(claims.has(7, 1)) << "the other item is still on its way";
  claims.remove(7, 1);
  EXPECT_FALSE(claims.has(7, 1));
  claims.remove(7, 1);
  EXPECT_EQ(claims.count_before(7), 0U);
}

}  // namespace
}  // namespace lockstep
