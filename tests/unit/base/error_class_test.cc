#include "replicator/error_class.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ErrorClassTest, SaysWhichServerAndWhetherARetryHelps) {
  EXPECT_EQ(class_of(Error({"connecting", "refused", "", Retry::kLater, Server::kSource})), "source_away");
  EXPECT_EQ(class_of(Error({"reading", "permission denied", "", Retry::kNever, Server::kSource})),
            "source_refuses");
  EXPECT_EQ(class_of(Error({"connecting", "refused", "", Retry::kLater, Server::kElasticsearch})),
            "elasticsearch_away");
  EXPECT_EQ(class_of(Error({"asking", "HTTP 403", "", Retry::kNever, Server::kElasticsearch})),
            "elasticsearch_refuses");
  EXPECT_EQ(class_of(Error({"reading", "a value is null"})), "failed");
}

}  // namespace
}  // namespace lockstep
