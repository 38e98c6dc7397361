// Waiting for locks: limited, ended by a stop request, and in the end everybody gets them.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "tests/contract/lock_contract.h"
#include "tests/support/eventually.h"

namespace lockstep {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(LockContract, WaitingIsBoundedAndGivesEverythingBack) {
  Operation first = hold(*a_, document_locks({"2"}));
  Operation waiter = b_->open({}, document_locks({"1", "2"}));
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<Refusal> refusal = acquire(*b_, waiter, nothing_, {.limit = milliseconds(400)});
  const auto waited = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(refusal);
  EXPECT_GE(waited, milliseconds(400));
  EXPECT_LT(waited, seconds(10));
  EXPECT_THAT(holders_of(a_->find_lock(LockName("2"))), ElementsAre(first.id));
  EXPECT_THAT(a_->find_lock(LockName("2"))->waiting, IsEmpty()) << "no place is left";
  EXPECT_EQ(a_->find_lock(LockName("1")), std::nullopt);
  end(*a_, first);
  end(*b_, waiter);
  expect_nothing_left();
}

TEST_P(LockContract, WhoWaitsGetsItSoonAfterItIsFreeAndOutlivesItsOwnLeaseMeanwhile) {
  Operation first = hold(*a_, one(kName));
  const auto waiting = open(kShort);
  Operation waiter = waiting->open({}, one(kName));
  std::atomic<bool> had = false;
  std::jthread thread([&] { had = !acquire(*waiting, waiter, nothing_, {.limit = kPatience}); });
  const ServerTime begin = a_->now();
  ASSERT_TRUE(wait_until([&] { return a_->now() > begin + 3 * kShort; }, kPatience));
  EXPECT_FALSE(had);
  end(*a_, first);
  thread.join();
  EXPECT_TRUE(had);
  waiting->commit(waiter);
  end(*waiting, waiter);
  expect_nothing_left();
}

TEST_P(LockContract, AStopEndsTheWaiting) {
  Operation first = hold(*a_, one(kName));
  Operation waiter = b_->open({}, one(kName));
  std::stop_source stop;
  std::optional<Refusal> refusal;
  std::jthread thread(
      [&] { refusal = acquire(*b_, waiter, nothing_, {.limit = seconds(600), .stop = stop.get_token()}); });
  stop.request_stop();
  thread.join();
  EXPECT_TRUE(refusal);
  end(*a_, first);
  end(*b_, waiter);
  expect_nothing_left();
}

TEST_P(LockContract, WhoDiesWhileItWaitsDoesNotHoldUpOthersForLong) {
  Operation first = hold(*a_, one(kName));
  Operation dying = b_->open({}, one(kName));
  EXPECT_TRUE(b_->try_acquire(dying, milliseconds(400)));
  Operation next = b_->open({}, one(kName));
  std::atomic<bool> had = false;
  std::jthread thread([&] { had = !acquire(*b_, next, nothing_, {.limit = kPatience}); });
  end(*a_, first);
  const auto begin = std::chrono::steady_clock::now();
  thread.join();
  EXPECT_TRUE(had);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10)) << "far from a lease";
  end(*b_, next);
  b_->finish(dying, OperationState::kAborted, "");
  b_->release(dying);
  expect_nothing_left();
}

// Reads, waits and writes with only the lock as protection: an update of two at once would be lost.
TEST_P(LockContract, NobodyIsInTheLockTogetherAndNobodyWaitsForever) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 8;
  std::array<int, 3> counters{};
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto locks = open();
      std::mt19937 random(static_cast<unsigned>(i));
      for (int round = 0; round < kRounds; ++round) {
        // Two of three, so that every pair of sets overlaps.
        const std::size_t spared = random() % counters.size();
        std::vector<std::string> ids;
        for (std::size_t c = 0; c < counters.size(); ++c) {
          if (c != spared) ids.push_back(std::to_string(c));
        }
        Operation operation = locks->open({}, document_locks(ids));
        if (acquire(*locks, operation, nothing_, {.limit = seconds(60)})) {
          ++failed;
          return;
        }
        std::array<int, 3> seen = counters;
        std::this_thread::yield();
        for (std::size_t c = 0; c < counters.size(); ++c) {
          if (c != spared) counters.at(c) = seen.at(c) + 1;
        }
        locks->commit(operation);
        end(*locks, operation);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(counters[0] + counters[1] + counters[2], 2 * kThreads * kRounds);
  expect_nothing_left();
}

}  // namespace lockstep
