#include "replicator/elasticsearch/bulk/throughput_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace lockstep {
namespace {

using Setting = ThroughputSearch::Setting;
constexpr std::size_t kMiB = 1024 * 1024;

// A cluster whose throughput with a setting is given, with some noise.
class Cluster {
 public:
  Cluster(Setting most, std::function<double(const Setting&)> rate, double noise = 0)
      : search(most), rate_(std::move(rate)), noise_(noise) {}

  // Sends as much as it takes.
  void run(std::chrono::seconds duration) {
    search.has_room(false, now_);
    const auto end = now_ + duration;
    while (now_ < end) pass(search.setting());
  }

  void run_with_room(std::chrono::seconds duration) {
    const auto end = now_ + duration;
    while (now_ < end) {
      search.has_room(true, now_);
      pass(search.setting());
      search.has_room(false, now_);
    }
  }

  void pass(const Setting& setting) {
    const double rate = rate_(setting) * std::exp(noise_ * normal_(random_));
    sent_ += setting.bytes;
    now_ +=
        std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(setting.bytes) / rate));
    search.came_through(setting.bytes, now_);
  }

  // Mean throughput since the last call.
  double mean() {
    const double seconds = std::chrono::duration<double>(now_ - counted_from_).count();
    counted_from_ = now_;
    return static_cast<double>(std::exchange(sent_, 0)) / seconds;
  }

  ThroughputSearch search;

 private:
  std::function<double(const Setting&)> rate_;
  double noise_;
  std::mt19937_64 random_{4711};
  std::normal_distribution<double> normal_;
  ThroughputSearch::Time now_{std::chrono::hours(1)};
  ThroughputSearch::Time counted_from_ = now_;
  std::size_t sent_ = 0;
};

double flat(const Setting& /*setting*/) {
  return 20e6;
}

// Fastest with two requests; one more or fewer costs a fifth.
double best_with_two(const Setting& setting) {
  return 20e6 * std::pow(0.8, std::abs(setting.requests - 2));
}

// Fastest with half a MiB.
double best_with_half(const Setting& setting) {
  return 20e6 * std::pow(0.8, std::abs(std::log2(static_cast<double>(setting.bytes) / (0.5 * kMiB))));
}

TEST(ThroughputSearch, BeginsWithTheMost) {
  EXPECT_EQ(ThroughputSearch({4, kMiB}).setting(), (Setting{4, kMiB}));
  EXPECT_EQ(ThroughputSearch({0, kMiB}).setting(), (Setting{1, kMiB})) << "one is the least";
}

TEST(ThroughputSearch, StaysWhereItIsWhileNothingIsBetter) {
  Cluster cluster({4, 2 * kMiB}, flat);
  cluster.run(std::chrono::minutes(10));
  EXPECT_EQ(cluster.search.setting(), (Setting{4, 2 * kMiB}));
}

TEST(ThroughputSearch, FindsTheNumber) {
  Cluster cluster({6, kMiB}, best_with_two);
  cluster.run(std::chrono::seconds(30));
  EXPECT_EQ(cluster.search.setting().requests, 2);
}

TEST(ThroughputSearch, FindsTheSize) {
  Cluster cluster({2, 8 * kMiB}, best_with_half);
  cluster.run(std::chrono::minutes(5));
  EXPECT_EQ(cluster.search.setting().bytes, kMiB / 2);
}

TEST(ThroughputSearch, ComesBackWhenTheClusterHasChanged) {
  double best = 1;
  Cluster cluster({6, kMiB}, [&](const Setting& setting) {
    return 20e6 * std::pow(0.8, std::abs(setting.requests - best));
  });
  cluster.run(std::chrono::seconds(60));
  EXPECT_EQ(cluster.search.setting().requests, 1);
  best = 5;
  cluster.run(std::chrono::minutes(5));
  EXPECT_EQ(cluster.search.setting().requests, 5);
}

TEST(ThroughputSearch, NoiseLeadsItNowhereBad) {
  constexpr double kNoise = 0.5;  // of one request; of a turn's ten it is a sixth
  Cluster cluster({6, kMiB}, best_with_two, kNoise);
  cluster.run(std::chrono::minutes(10));
  cluster.mean();
  cluster.run(std::chrono::minutes(30));
  const double slowed_down_by_noise = std::exp(kNoise * kNoise / 2);
  EXPECT_GT(cluster.mean() * slowed_down_by_noise, 0.9 * 20e6);
}

TEST(ThroughputSearch, WhatDoesNotHelpIsTriedSeldom) {
  Cluster cluster({3, kMiB}, [](const Setting& setting) { return setting == Setting{3, kMiB} ? 20e6 : 1e6; });
  cluster.run(std::chrono::minutes(2));
  cluster.mean();
  cluster.run(std::chrono::hours(1));
  EXPECT_GT(cluster.mean(), 0.98 * 20e6);
}

TEST(ThroughputSearch, LearnsNothingWhileThereIsRoom) {
  Cluster cluster({6, kMiB}, best_with_two);
  cluster.run_with_room(std::chrono::minutes(5));
  EXPECT_EQ(cluster.search.setting().requests, 6);
}

TEST(ThroughputSearch, AnInterruptionEndsATrialsTurn) {
  Cluster cluster({6, kMiB}, flat);
  while (cluster.search.setting().requests == 6) cluster.run(std::chrono::seconds(1));
  cluster.search.interrupted();
  EXPECT_EQ(cluster.search.setting().requests, 6);
}

}  // namespace
}  // namespace lockstep
