#include "replicator/cli/options/rate_option.h"

#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

TEST(RateOptionTest, AWholeNumberLimitsAndZeroDoesNot) {
  EXPECT_EQ(max_rate_of("--max-rate", "2500"), 2'500);
  EXPECT_EQ(max_rate_of("--max-rate", "1"), 1);
  EXPECT_EQ(max_rate_of("--max-rate", "0"), std::nullopt);
}

TEST(RateOptionTest, AnythingElseIsNamed) {
  for (const char* const text :
       {"", "-1", "1.5", "+1", " 1", "1 ", "1e3", "ten", "1000/s", "9223372036854775808"}) {
    try {
      max_rate_of("--max-rate", text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("--max-rate: \"") + text +
                    "\" is not a number of documents a second; write 1000, or 0 for no "
                    "limit");
    }
  }
}

}  // namespace
}  // namespace lockstep
