// Waiting for changes, and for Elasticsearch to have passed a point.
#include <thread>

#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

TEST_P(SourceContract, APositionIsPassedWhenEverythingBeforeItIsSaved) {
  lead();
  writer_->insert_thing(1, 0);
  const Position position = source_->changes().read()->position();
  EXPECT_FALSE(source_->changes().has_passed(position));
  EXPECT_FALSE(other()->changes().has_passed(position));
  writer_->insert_thing(2, 0);
  drain();
  EXPECT_TRUE(source_->changes().has_passed(position));
  EXPECT_TRUE(other()->changes().has_passed(position));
  writer_->insert_thing(3, 0);
  EXPECT_TRUE(source_->changes().has_passed(position)) << "what came later does not matter";
}

TEST_P(SourceContract, SomethingNewIsToldAtOnce) {
  lead();
  drain();
  writer_->insert_thing(1, 0);
  EXPECT_TRUE(source_->changes().may_have_changed(position_));
}

// Others at the same server may have done something at any time: then it is true, though not at once.
TEST_P(SourceContract, WhoWaitsForAChangeIsToldWhenItComes) {
  using namespace std::chrono_literals;
  lead();
  drain();
  const auto begin = std::chrono::steady_clock::now();
  const bool changed = source_->changes().await_change(position_, 50ms, 200ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, changed ? 50ms : 200ms);

  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    writer_->insert_thing(1, 0);
  });
  EXPECT_TRUE(source_->changes().await_change(position_, 5ms, 60s));
  later.join();
  EXPECT_TRUE(source_->changes().may_have_changed(position_));
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

// A source that does not see all of them never says that there was none.
TEST_P(SourceContract, WhoWaitsForAChangeIsNotToldOfRestAfterAnyCommit) {
  using namespace std::chrono_literals;
  lead();
  drain();
  add_job(docs().id, JobKind::kComparison);
  EXPECT_TRUE(source_->changes().await_change(position_, 5ms, 50ms));
  writer_->insert_thing(1, 0);
  EXPECT_TRUE(source_->changes().await_change(position_, 5ms, 50ms));
}

TEST_P(DefinedSourceContract, ALeaderNoticesWhoWaitsForItsCheckpoint) {
  using namespace std::chrono_literals;
  lead();
  EXPECT_GT(source_->changes().save_within(), 0ms);
  writer_->insert_thing(1, 0);
  const auto watch = world().watch();
  const auto point = watch->begin(std::nullopt);
  EXPECT_EQ(point->look().kind, AppliedState::Kind::kPending);
  EXPECT_TRUE(becomes_true([&] { return source_->changes().save_within() == 0ms; }));
}

}  // namespace
}  // namespace lockstep
