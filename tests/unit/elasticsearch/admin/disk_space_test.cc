#include "replicator/elasticsearch/admin/disk_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kNodes = R"({"nodes": {
  "x": {"name": "es2", "roles": ["data_hot", "ingest"], "fs": {"total": {"total_in_bytes": 1000, "available_in_bytes": 150}}},
  "y": {"name": "es1", "fs": {"total": {"total_in_bytes": 1000, "available_in_bytes": 500}}},
  "z": {"name": "master", "roles": ["master"], "fs": {"total": {"total_in_bytes": 10, "available_in_bytes": 1}}}}})";

std::vector<NodeDisk> disks_with(const json& settings) {
  Script script{{{200, kNodes}, {200, settings.dump()}}, {}};
  ElasticsearchClient client = client_of(script);
  return disks_of_nodes(client).value();
}

json with_default(const std::string& high) {
  return {{"defaults", {{"cluster.routing.allocation.disk.watermark.high", high}}}};
}

TEST(DiskSpace, NodesThatHoldDataHaveAWatermark) {
  const std::vector<NodeDisk> disks = disks_with(with_default("90%"));
  ASSERT_THAT(disks, SizeIs(2));
  EXPECT_EQ(disks[0].node, "es1");
  EXPECT_EQ(disks[1].available, 150);
  EXPECT_EQ(disks[1].kept_free, 100);
  EXPECT_THAT(too_full_with(disks, 100), IsEmpty()) << "50 for each of them";
  EXPECT_THAT(too_full_with(disks, 102), ElementsAre("es2"));
  EXPECT_THAT(too_full_with(disks, 2'000), ElementsAre("es1", "es2"));
}

TEST(DiskSpace, AWatermarkIsAShareOrAnAmount) {
  EXPECT_EQ(disks_with(with_default("0.7"))[0].kept_free, 300);
  EXPECT_EQ(disks_with(with_default("2kb"))[0].kept_free, 2048);
  json headroom = with_default("10%");
  headroom["defaults"]["cluster.routing.allocation.disk.watermark.high.max_headroom"] = "100b";
  EXPECT_EQ(disks_with(headroom)[0].kept_free, 100);
  json off = with_default("90%");
  off["persistent"]["cluster.routing.allocation.disk.threshold_enabled"] = "false";
  EXPECT_EQ(disks_with(off)[0].kept_free, 0);
  json said = with_default("90%");
  said["persistent"]["cluster.routing.allocation.disk.watermark.high"] = "80%";
  EXPECT_EQ(disks_with(said)[0].kept_free, 200) << "what somebody has said counts";
  EXPECT_THAT([] { disks_with(with_default("much")); },
              testing::ThrowsMessage<Error>(HasSubstr("watermark.high is \"much\"")));
  EXPECT_THAT([] { disks_with(with_default("5 apples")); },
              testing::ThrowsMessage<Error>(HasSubstr("watermark.high is \"5 apples\"")));
}

TEST(DiskSpace, WhoMayNotAskLearnsNothing) {
  Script script{{{200, kNodes}, {403, R"({"error":"no"})"}, {403, R"({"error":"no"})"}}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_FALSE(disks_of_nodes(client).has_value());
  EXPECT_EQ(stored_bytes(client, "posts"), std::nullopt);
}

}  // namespace
}  // namespace lockstep
