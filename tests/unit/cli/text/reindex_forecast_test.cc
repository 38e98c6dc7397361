#include "replicator/cli/text/reindex_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

ReindexForecast forecast() {
  ReindexForecast forecast;
  forecast.alias = "posts";
  forecast.index = "posts-000001";
  forecast.changes = {"field title: type is text, wanted keyword"};
  forecast.documents = 200'000;
  forecast.keep = std::chrono::hours(168);
  return forecast;
}

TEST(ReindexForecastTest, TheTimeIsThatOfTheLastTime) {
  ReindexForecast posts = forecast();
  posts.filled = Pace{100'000, 4s};
  posts.compared = Pace{50'000, 1s};
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("  about 12.0 s to fill and compare it; the last time 100,000 "
                        "documents filled in 4.0 s, 50,000 documents compared in 1.0 s\n"));
  const nlohmann::json json = nlohmann::json::parse(forecasts_json({posts})).at("indices").at(0);
  EXPECT_EQ(json.at("fill_seconds"), 8);
  EXPECT_EQ(json.at("compare_seconds"), 4);
  EXPECT_EQ(json.at("last_fill").at("documents"), 100'000);
  EXPECT_EQ(json.at("last_comparison").at("seconds"), 1);
  EXPECT_TRUE(json.at("max_rate").is_null());
}

TEST(ReindexForecastTest, OfALimitAndTheLastTimeTheSlowerCounts) {
  ReindexForecast posts = forecast();
  posts.filled = Pace{100'000, 4s};      // 25,000 a second
  posts.compared = Pace{100'000, 200s};  // 500 a second
  posts.max_rate = 1'000;
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("  about 10 min 0 s to fill and compare it at --max-rate 1000; "));
  const nlohmann::json json = nlohmann::json::parse(forecasts_json({posts})).at("indices").at(0);
  EXPECT_EQ(json.at("fill_seconds"), 200);
  EXPECT_EQ(json.at("compare_seconds"), 400);
  EXPECT_EQ(json.at("max_rate"), 1'000);
}

TEST(ReindexForecastTest, WhatWasNotMeasuredIsSaid) {
  ReindexForecast posts = forecast();
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("how long that takes is not known: nothing of this index has been measured yet\n"));
  EXPECT_TRUE(
      nlohmann::json::parse(forecasts_json({posts})).at("indices").at(0).at("fill_seconds").is_null());
  posts.max_rate = 1'000;
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("  at least 6 min 40 s to fill and compare it at --max-rate 1000; "
                        "nothing of this index has been measured yet\n"));
  posts.max_rate.reset();
  posts.filled = Pace{100'000, 4s};
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("  about 8.0 s to fill it; the last time 100,000 documents filled in "
                        "4.0 s; comparing has not been measured yet\n"));
  posts.documents = 0;
  EXPECT_THAT(forecast_text(posts), Not(HasSubstr("about"))) << "an empty index takes no time";
}

TEST(ReindexForecastTest, ANodeThatWouldBeTooFullIsNamed) {
  ReindexForecast posts = forecast();
  EXPECT_THAT(forecast_text(posts), HasSubstr("whether the nodes have room for that is not known"));
  posts.needed = 900;
  posts.disks = std::vector<NodeDisk>{{"n1", 1'000, 950, 100}};
  EXPECT_THAT(forecast_text(posts),
              HasSubstr("900 B more on disk, replicas included; 950 B are free on 1 node\n"));
  EXPECT_THAT(forecast_text(posts), HasSubstr("! node n1 would pass its high watermark"));
  EXPECT_EQ(nlohmann::json::parse(forecasts_json({posts})).at("indices").at(0).at("nodes_too_full").at(0),
            "n1");
}

}  // namespace
}  // namespace lockstep
