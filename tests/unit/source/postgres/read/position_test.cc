#include "replicator/source/postgres/read/position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PostgresSnapshotTest, SeesWhatHadEndedBefore) {
  const PostgresSnapshot snapshot("100:110:103,107");
  EXPECT_TRUE(snapshot.sees(1));
  EXPECT_TRUE(snapshot.sees(99));
  EXPECT_TRUE(snapshot.sees(102));
  EXPECT_TRUE(snapshot.sees(109));
}

TEST(PostgresSnapshotTest, DoesNotSeeWhatWasRunningOrHadNotBegun) {
  const PostgresSnapshot snapshot("100:110:100,103,107");
  EXPECT_FALSE(snapshot.sees(100));
  EXPECT_FALSE(snapshot.sees(103));
  EXPECT_FALSE(snapshot.sees(107));
  EXPECT_FALSE(snapshot.sees(110));
  EXPECT_FALSE(snapshot.sees(5'000'000'000));
}

TEST(PostgresSnapshotTest, WithoutRunningTransactionsEverythingBelowXmaxIsVisible) {
  const PostgresSnapshot snapshot("110:110:");
  EXPECT_TRUE(snapshot.sees(109));
  EXPECT_FALSE(snapshot.sees(110));
  EXPECT_EQ(snapshot.xmax(), 110U);
  EXPECT_EQ(snapshot.text(), "110:110:");
}

TEST(PostgresSnapshotTest, NumbersBeyond32BitsAreTransactionsOfALaterEpoch) {
  const PostgresSnapshot snapshot("8589934592:8589934600:8589934595");
  EXPECT_TRUE(snapshot.sees(4'294'967'300));
  EXPECT_FALSE(snapshot.sees(8'589'934'595));
  EXPECT_TRUE(snapshot.sees(8'589'934'596));
}

TEST(PostgresSnapshotTest, TransactionsThatEndedInBetweenAreFoundInAscendingOrder) {
  const PostgresSnapshot before("100:110:107,100,103");
  EXPECT_THAT(before.finished_in(PostgresSnapshot("103:120:103,115")), ElementsAre(100, 107));
}

TEST(PostgresSnapshotTest, ATransactionThatStillRunsHasNotEndedInBetween) {
  const PostgresSnapshot before("100:110:100,103");
  EXPECT_THAT(before.finished_in(PostgresSnapshot("100:200:100,103")), IsEmpty());
}

TEST(PostgresSnapshotTest, AnyOtherTextIsAnErrorThatQuotesIt) {
  for (const char* text : {"", "100", "100:", "a:b:", "100:110:x", "100:110:103;107", "-1:5:", "1:2:3:4"}) {
    try {
      const PostgresSnapshot snapshot((std::string_view(text)));
      ADD_FAILURE() << "\"" << text << "\" was taken for a snapshot";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
      EXPECT_FALSE(error.retryable());
    }
  }
}

TEST(PostgresPositionTest, ComesBackFromItsText) {
  for (const PostgresPosition& position :
       {PostgresPosition{"100:110:103", "", 0, 0}, PostgresPosition{"100:110:103", "110:120:115", 118, 4'711},
        PostgresPosition{"110:110:", "111:111:", 5'000'000'000, 9'000'000'000}}) {
    const PostgresPosition again = PostgresPosition::from(position.to_position());
    EXPECT_EQ(again.prev, position.prev);
    EXPECT_EQ(again.cur, position.cur);
    EXPECT_EQ(again.last_txid, position.last_txid);
    EXPECT_EQ(again.last_id, position.last_id);
  }
}

TEST(PostgresPositionTest, EqualPositionsHaveEqualTexts) {
  const PostgresPosition at{"100:110:103", "110:120:115", 118, 4'711};
  const PostgresPosition further{"100:110:103", "110:120:115", 118, 4'712};
  EXPECT_EQ(at.to_position(), PostgresPosition(at).to_position());
  EXPECT_NE(at.to_position(), further.to_position());
}

TEST(PostgresLargeTransactionTest, IsWrittenAndReadBackUnchanged) {
  const PostgresLargeTransaction large{5'000'000'000, 9'000'000'000};
  const PostgresLargeTransaction again = PostgresLargeTransaction::from(large.to_large_transaction());
  EXPECT_EQ(again.txid, large.txid);
  EXPECT_EQ(again.after, large.after);
}

TEST(PostgresLargeTransactionTest, AnyOtherTextIsAnError) {
  for (const char* text : {"", "/", "1", "1/", "/1", "x/1", "1/x", "1/2/3"}) {
    EXPECT_THROW(PostgresLargeTransaction::from(LargeTransaction{text}), Error) << text;
  }
}

TEST(PostgresPositionTest, AnyOtherTextIsAnError) {
  for (const char* text : {"", "100:110:", "100:110:/", "100:110://0", "100:110://x/0", "100:110://0/x"}) {
    EXPECT_THROW(PostgresPosition::from(Position{text}), Error) << text;
  }
}

}  // namespace
}  // namespace lockstep
