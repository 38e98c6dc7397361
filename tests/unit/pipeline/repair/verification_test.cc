// What counts as a difference while documents go there and back: between two looks at the view, Elasticsearch
// has what the view had in between. The leader works while the verification waits for it.
#include "replicator/pipeline/repair/verification.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "replicator/error.h"
#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

class VerificationTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"1", "2", "3"}) world_.put_post(id, "ann");
    ASSERT_TRUE(leader_.catch_up());
    ASSERT_EQ(world_.difference(), "");
  }

  /// Calls `step` before each answer to a request whose path ends `with` this.
  void before_each_look(const std::string& with, std::function<void()> step) {
    world_.elasticsearch.intercept(
        [this, with, step = std::move(step)](const HttpRequest& request) -> std::optional<HttpResponse> {
          const bool is_look = request.path.ends_with(with);
          if (is_look && !std::exchange(is_busy_, true)) {
            step();
            is_busy_ = false;
          }
          return std::nullopt;
        });
  }

  VerifiedIndex verify() {
    FakeSource source(world_.database);
    ElasticsearchClient elasticsearch(world_.elasticsearch.transports()());
    Verification verification(
        world_.config, source, elasticsearch,
        {.progress =
             [this](const VerifyProgress& progress) {
               if (progress.phase == VerifyProgress::Phase::kWaiting) EXPECT_TRUE(leader_.catch_up());
             },
         .difference =
             [this](const AppliedIndex& /*index*/, const DifferingDocument& differing) {
               named_.insert(std::string(to_string(differing.difference)) + " " + differing.document.id.text);
             }},
        Verification::Repair::kNo);
    return verification.compare(world_.posts());
  }

  World world_;
  Leader leader_{world_};
  std::set<std::string> named_;

 private:
  bool is_busy_ = false;
};

constexpr const char* kWithContents = "_mget";
constexpr const char* kWithoutContents = "_mget?_source=false&stored_fields=_routing";

TEST_F(VerificationTest, WhatDiffersAtRestIsNamed) {
  world_.elasticsearch.damage("posts", "1", std::nullopt);
  world_.elasticsearch.damage("posts", "2", "{}");
  world_.elasticsearch.damage("posts", "surplus", "{}");
  EXPECT_EQ(verify().undecided, 0);
  EXPECT_EQ(named_, (std::set<std::string>{"missing 1", "different 2", "surplus surplus"}));
}

// A price that went up and down again, or a rank.
TEST_F(VerificationTest, AValueThatGoesThereAndBackBetweenTwoLooksIsNoDifference) {
  world_.elasticsearch.damage("posts", "2", "{}");
  world_.put_post("1", "bob");
  before_each_look(kWithContents, [this] {
    world_.put_post("1", "ann");
    EXPECT_TRUE(leader_.catch_up());
    world_.put_post("1", "bob");
  });
  EXPECT_EQ(verify().undecided, 1);
  EXPECT_EQ(named_, std::set<std::string>{"different 2"}) << "what has no change is judged all the same";
}

TEST_F(VerificationTest, AValueThatCameBackIsEqualWhenItRests) {
  int times = 3;
  world_.put_post("1", "bob");
  before_each_look(kWithContents, [&] {
    if (times-- <= 0) return;
    world_.put_post("1", "ann");
    EXPECT_TRUE(leader_.catch_up());
    world_.put_post("1", "bob");
  });
  EXPECT_EQ(verify().undecided, 0);
  EXPECT_EQ(named_, std::set<std::string>{});
}

// A document that is not there has no version that would tell.
TEST_F(VerificationTest, ADocumentThatLeavesTheViewAndComesBackBetweenTwoLooksIsNotMissing) {
  world_.put_post("4", "ann");
  before_each_look(kWithContents, [this] {
    world_.remove_post("4");
    EXPECT_TRUE(leader_.catch_up());
    world_.put_post("4", "ann");
  });
  verify();
  EXPECT_EQ(named_, std::set<std::string>{});
}

// The alias points to another generation now, which lacks what it refuses, or what is still on its way there.
TEST_F(VerificationTest, NothingIsReportedOfTheIndexThatAReindexPutsInPlace) {
  world_.elasticsearch.damage("posts", "2", "{}");
  before_each_look(kWithContents, [this] {
    world_.database.write([](State& state) {
      note_revision(state);
      return true;
    });
  });
  EXPECT_THROW(verify(), Error);
  EXPECT_EQ(named_, std::set<std::string>{});
}

TEST_F(VerificationTest, ADocumentThatComesIntoTheViewAndLeavesBetweenTwoLooksIsNotSurplus) {
  world_.remove_post("1");
  before_each_look(kWithoutContents, [this] {
    world_.put_post("1", "ann");
    EXPECT_TRUE(leader_.catch_up());
    world_.remove_post("1");
  });
  verify();
  EXPECT_EQ(named_, std::set<std::string>{});
}

}  // namespace
}  // namespace lockstep::fake
