#include "replicator/source/applied_watch.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(TransactionIdTest, ReadsWhatPostgresqlWrites) {
  EXPECT_EQ(parse_transaction_id("741"), TransactionId{741});
  EXPECT_EQ(parse_transaction_id("18446744073709551615"), TransactionId{18'446'744'073'709'551'615U});
}

TEST(TransactionIdTest, NothingElseIsOne) {
  for (const char* text : {"", "0", "-7", "+7", " 7", "7 ", "0x7", "seven", "18446744073709551616"}) {
    EXPECT_EQ(parse_transaction_id(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lockstep
