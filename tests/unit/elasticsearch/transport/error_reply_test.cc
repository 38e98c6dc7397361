#include "replicator/elasticsearch/transport/error_reply.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ErrorReplyTest, AReasonThatQuotesADocumentStaysInOneLine) {
  const ErrorCause cause =
      read_error_reply(R"({"error": {"type": "t", "reason": " failed\r\n\tto parse \u0000 [a]\n"}})");
  EXPECT_EQ(cause.type, "t");
  EXPECT_EQ(cause.reason, "failed to parse [a]");
}

}  // namespace
}  // namespace lockstep
