#include "replicator/elasticsearch/admin/cluster_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

constexpr const char* kLagging = R"({"acknowledged":false,"shards_acknowledged":false})";

TEST(ClusterChange, WhatANodeHasNotTakenYetIsNoSuccess) {
  const std::vector<std::function<void(ElasticsearchClient&)>> changes = {
      [](ElasticsearchClient& client) { client.create_index("posts-000001", nlohmann::json::object()); },
      [](ElasticsearchClient& client) { client.put_mapping("posts-000001", nlohmann::json::object()); },
      [](ElasticsearchClient& client) { client.put_settings("posts-000001", nlohmann::json::object()); },
      [](ElasticsearchClient& client) { client.delete_index("posts-000001"); },
      [](ElasticsearchClient& client) { change_cluster(client, "moving", "POST", "/_aliases", "{}"); },
  };
  for (const auto& change : changes) {
    Script script{{{200, kLagging}, {200, R"({"acknowledged":true})"}}, {}};
    ElasticsearchClient client = client_of(script);
    try {
      change(client);
      ADD_FAILURE() << "it is taken for done";
    } catch (const Error& error) {
      EXPECT_TRUE(error.retryable());
      EXPECT_THAT(error.what(), HasSubstr("not all of its nodes have it yet"));
    }
    EXPECT_NO_THROW(change(client)) << "tried again";
  }
}

TEST(ClusterChange, AReplyThatSaysNothingOfNodesIsAnError) {
  for (const char* const reply : {"{}", R"({"acknowledged":"true"})"}) {
    Script script{{{200, reply}}, {}};
    ElasticsearchClient client = client_of(script);
    EXPECT_THAT([&] { client.put_mapping("posts-000001", nlohmann::json::object()); },
                testing::ThrowsMessage<Error>(HasSubstr("does not show whether all nodes have it")));
  }
}

}  // namespace
}  // namespace lockstep
