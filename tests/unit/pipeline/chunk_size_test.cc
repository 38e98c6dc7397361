#include "replicator/pipeline/chunk_size.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ChunkSize, IsTheMostWhileNothingIsKnown) {
  const ChunkSize chunk(2'000, 1'000'000);
  EXPECT_EQ(chunk.values(), 2'000);
}

TEST(ChunkSize, FillsOneRequestWhereTheMostWouldFillOneAndAFraction) {
  ChunkSize chunk(2'000, 1'000'000);
  chunk.begins(2'000);
  chunk.rendered(1'000'000);
  chunk.rendered(200'000);
  chunk.begins(2'000);
  EXPECT_GT(chunk.values(), 1'500);
  EXPECT_LT(chunk.values(), 1'666) << "one request";
}

TEST(ChunkSize, IsTheMostWhereThatIsLessThanARequest) {
  ChunkSize chunk(2'000, 1'000'000);
  chunk.begins(2'000);
  chunk.rendered(400'000);
  chunk.begins(1);
  EXPECT_EQ(chunk.values(), 2'000);
}

TEST(ChunkSize, IsTheMostWhereEachDocumentIsLargerThanARequest) {
  ChunkSize chunk(2'000, 1'000'000);
  chunk.begins(200);
  chunk.rendered(1'000'000'000);
  chunk.begins(1);
  EXPECT_GT(chunk.values(), 1'990);
}

TEST(ChunkSize, AFewChangesSayNothingOfTheNextOnes) {
  ChunkSize chunk(2'000, 1'000'000);
  chunk.begins(1);
  chunk.rendered(1'000'000);
  chunk.begins(1);
  EXPECT_EQ(chunk.values(), 2'000);
}

}  // namespace
}  // namespace lockstep
