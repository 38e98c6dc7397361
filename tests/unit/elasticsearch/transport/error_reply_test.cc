#include "replicator/elasticsearch/transport/error_reply.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ErrorReplyTest, OnlyTimeOutsOverloadAndTheServersOwnFaultsMayWorkLater) {
  for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(may_work_later(status)) << status;
  for (const int status : {0, 200, 400, 401, 403, 404, 409, 413, 499})
    EXPECT_FALSE(may_work_later(status)) << status;
}

TEST(ErrorReplyTest, AReasonThatQuotesADocumentStaysInOneLine) {
  const ErrorCause cause =
      read_error_reply(R"({"error": {"type": "t", "reason": " failed\r\n\tto parse \u0000 [a]\n"}})");
  EXPECT_EQ(cause.type, "t");
  EXPECT_EQ(cause.reason, "failed to parse [a]");
}

}  // namespace
}  // namespace lockstep
