// Shared locks, for backends that have them: which holders are compatible, trees, and waiting for a
// directory.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <thread>

#include "replicator/locks/sweep.h"
#include "tests/contract/lock_contract.h"
#include "tests/support/eventually.h"

namespace lockstep {

using std::chrono::seconds;
using support::wait_until;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Resolution::Kind;

namespace {

/// A cell of the compatibility matrix: who holds the lock, and how it answers A, who asks for more.
struct Cell {
  std::string state;  ///< "free", "S" or "X" and the holders; "†" dead ones
  LockMode asked;
  std::string expected;  ///< "held", or mode and holders afterwards
};

std::string text_of_state(const std::optional<LockState>& lock,
                          const std::map<std::string, std::string>& names) {
  if (!lock) return "free";
  std::string text = lock->mode == LockMode::kShared ? "S" : "X";
  std::vector<std::string> holders;
  for (const LockHolder& holder : lock->holders) {
    const auto name = names.find(holder.id);
    holders.push_back(name == names.end() ? "?" : name->second);
  }
  std::sort(holders.begin(), holders.end());
  for (const std::string& holder : holders) text += holder;
  if (lock->count != static_cast<std::int64_t>(holders.size())) text += "/" + std::to_string(lock->count);
  return text;
}

}  // namespace

TEST_P(SharedLockContract, TheWholeCompatibilityMatrix) {
  const LockMode s = LockMode::kShared;
  const LockMode x = LockMode::kExclusive;
  const std::vector<Cell> cells = {
      {"free", s, "SA"}, {"free", x, "XA"},  {"SA", s, "SA"},    {"SA", x, "XA"},    {"SB", s, "SAB"},
      {"SB", x, "held"}, {"SBC", s, "SABC"}, {"SBC", x, "held"}, {"SAB", s, "SAB"},  {"SAB", x, "held"},
      {"XA", s, "XA"},   {"XA", x, "XA"},    {"XB", s, "held"},  {"XB", x, "held"},  {"XB†", s, "SA"},
      {"XB†", x, "XA"},  {"SB†", s, "SAB"},  {"SB†", x, "XA"},   {"SAB†", s, "SAB"}, {"SAB†", x, "XA"}};
  for (const Cell& cell : cells) {
    SCOPED_TRACE(cell.state + (cell.asked == s ? " asked shared" : " asked exclusive"));
    const bool dead = cell.state.find("†") != std::string::npos;
    std::map<std::string, std::string> names;
    std::vector<Operation> holders;
    Operation a = a_->open({}, {});
    names[a.id] = "A";
    const LockMode mode = cell.state.front() == 'S' ? s : x;
    for (const char letter : cell.state == "free" ? std::string() : cell.state.substr(1)) {
      if (letter == 'A') {
        ASSERT_EQ(a_->try_extend(a, {kName, mode}), std::nullopt);
      } else if (letter == 'B' || letter == 'C') {
        Operation other = hold(dead ? mortal() : *b_, one(kName, mode));
        names[other.id] = std::string(1, letter);
        holders.push_back(std::move(other));
      }
    }
    if (dead) {
      wait_for_death_of(holders.at(0));
      if (cell.asked == x || mode == x) {
        ASSERT_TRUE(a_->try_extend(a, {kName, cell.asked}))
            << "a lease is no reason to take a lock away (L2)";
        EXPECT_EQ(a_->resolve(holders[0].id, {kName}, Adoption::kRefused).kind, Kind::kGone);
      }
    }
    const std::string before = text_of_state(a_->find_lock(kName), names);
    const std::optional<Refusal> refusal = a_->try_extend(a, {kName, cell.asked});
    const std::string after = text_of_state(a_->find_lock(kName), names);
    if (cell.expected == "held") {
      ASSERT_TRUE(refusal);
      EXPECT_EQ(after, before) << "a refusal changes nothing";
    } else {
      EXPECT_FALSE(refusal);
      EXPECT_EQ(after, cell.expected);
    }
    end(*a_, a);
    for (Operation& holder : holders) dead ? mortal().release(holder) : end(*b_, holder);
    if (dead) sweep(*b_, nothing_);
    expect_nothing_left();
  }
}

TEST_P(SharedLockContract, WhatRunsUnderALockIsNotKeptOutByIt) {
  const LockMode s = LockMode::kShared;
  Operation above = hold(*a_, one(kName));
  const auto below = [&](LockMode mode) {
    Operation operation = b_->open({.under = {above.id}}, one(kName, mode));
    EXPECT_EQ(b_->try_acquire(operation, kNoPlace), std::nullopt);
    return operation;
  };
  Operation first = below(s);
  Operation second = below(s);
  EXPECT_TRUE(try_once(*b_, one(kName, s))) << "others are kept out";
  EXPECT_EQ(a_->find_lock(kName)->mode, LockMode::kExclusive);
  Operation third = b_->open({.under = {above.id}}, one(kName));
  EXPECT_TRUE(b_->try_acquire(third, kNoPlace)) << "not together with those beside it";
  end(*b_, second);
  end(*b_, first);
  EXPECT_EQ(a_->find_lock(kName)->mode, LockMode::kExclusive) << "it is still held above";
  EXPECT_EQ(b_->try_acquire(third, kNoPlace), std::nullopt);
  end(*a_, above);
  EXPECT_TRUE(try_once(*a_, one(kName, s))) << "what has outlived the lock above keeps its own";
  end(*b_, third);
  expect_nothing_left();
}

TEST_P(SharedLockContract, AnUpgradeNeedsToBeAloneAndADowngradeLetsOthersIn) {
  Operation first = hold(*a_, one(kName, LockMode::kShared));
  Operation second = hold(*b_, one(kName, LockMode::kShared));
  EXPECT_TRUE(a_->try_extend(first, {kName, LockMode::kExclusive}));
  EXPECT_TRUE(b_->try_extend(second, {kName, LockMode::kExclusive})) << "both are told at once: no deadlock";
  end(*b_, second);
  EXPECT_EQ(a_->try_extend(first, {kName, LockMode::kExclusive}), std::nullopt);
  EXPECT_TRUE(try_once(*b_, one(kName, LockMode::kShared)));
  a_->downgrade(first, kName);
  EXPECT_EQ(a_->find_lock(kName)->mode, LockMode::kShared);
  EXPECT_EQ(try_once(*b_, one(kName, LockMode::kShared)), std::nullopt);
  EXPECT_TRUE(try_once(*b_, one(kName)));
  end(*a_, first);
  expect_nothing_left();
}

TEST_P(SharedLockContract, ADowngradeByWhoDoesNotHoldItChangesNothing) {
  Operation first = hold(*a_, one(kName));
  Operation second = b_->open({}, one(kName));
  b_->downgrade(second, kName);
  EXPECT_EQ(a_->find_lock(kName)->mode, LockMode::kExclusive);
  end(*a_, first);
  end(*b_, second);
  expect_nothing_left();
}

TEST_P(SharedLockContract, ATreeLockKeepsOthersFromWhatIsAboveAndBelowAndFromItsTarget) {
  Operation rename = hold(*a_, tree_locks({"/clinton/projects/a.txt", "/clinton/projects/b.txt"}));
  EXPECT_EQ(text_of_state(a_->find_lock(LockName("/")), {{rename.id, "A"}}), "SA");
  EXPECT_EQ(text_of_state(a_->find_lock(LockName("/clinton/projects")), {{rename.id, "A"}}), "SA");
  EXPECT_TRUE(try_once(*b_, tree_locks({"/clinton", "/hillary"}))) << "a directory above";
  EXPECT_TRUE(try_once(*b_, tree_locks({"/clinton/projects/a.txt/x"}))) << "what would be below";
  EXPECT_TRUE(try_once(*b_, tree_locks({"/tmp/c.txt", "/clinton/projects/b.txt"}))) << "the same target";
  EXPECT_EQ(try_once(*b_, tree_locks({"/clinton/projects/c.txt", "/clinton/projects/d.txt"})), std::nullopt);
  EXPECT_EQ(try_once(*b_, tree_locks({"/clinton/projects/a"})), std::nullopt) << "a name is no prefix";

  Operation other = hold(*b_, tree_locks({"/clinton/x"}));
  EXPECT_EQ(a_->find_lock(LockName("/clinton"))->count, 2);
  end(*a_, rename);
  EXPECT_EQ(a_->find_lock(LockName("/clinton"))->count, 1);
  EXPECT_EQ(a_->find_lock(LockName("/clinton/projects")), std::nullopt);
  end(*b_, other);
  expect_nothing_left();
}

TEST_P(SharedLockContract, APlaceInTheQueueKeepsNewSharersOut) {
  Operation sharer = hold(*a_, one(kName, LockMode::kShared));
  Operation waiter = b_->open({}, one(kName));
  EXPECT_TRUE(b_->try_acquire(waiter, kPatience));
  const std::optional<Refusal> kept_out = try_once(*a_, one(kName, LockMode::kShared));
  ASSERT_TRUE(kept_out);
  EXPECT_TRUE(kept_out->queued);
  EXPECT_THAT(text_of(*kept_out), HasSubstr("is kept for " + waiter.id));
  EXPECT_EQ(a_->try_acquire(sharer, kNoPlace), std::nullopt) << "who is in stays in";
  end(*a_, sharer);
  const std::optional<Refusal> still = try_once(*a_, one(kName, LockMode::kShared));
  ASSERT_TRUE(still) << "the place outlives the last sharer";
  EXPECT_THAT(a_->locks(), IsEmpty()) << "a place is no lock";
  EXPECT_EQ(b_->try_acquire(waiter, kNoPlace), std::nullopt);
  end(*b_, waiter);
  expect_nothing_left();
}

TEST_P(SharedLockContract, ThoseWhoWaitGetTheLockInTheirOrderAndSharersTogether) {
  Operation holder = hold(*a_, one(kName));
  const auto wait_for = [&](LockMode mode, std::size_t ahead) {
    Operation waiter = b_->open({}, one(kName, mode));
    const std::optional<Refusal> refusal = b_->try_acquire(waiter, kPatience);
    EXPECT_TRUE(refusal);
    EXPECT_EQ(refusal->ahead, ahead);
    return waiter;
  };
  std::array waiters = {wait_for(LockMode::kExclusive, 0), wait_for(LockMode::kShared, 1),
                        wait_for(LockMode::kShared, 2), wait_for(LockMode::kExclusive, 3)};
  const auto had_from = [&](std::size_t first) {
    std::string had;
    for (std::size_t i = first; i < waiters.size(); ++i)
      had += b_->try_acquire(waiters.at(i), kPatience) ? '-' : '+';
    return had;
  };
  std::vector<std::string> waiting;
  const std::optional<LockState> lock = a_->find_lock(kName);
  for (const LockHolder& each : lock.value().waiting) waiting.push_back(each.id);
  EXPECT_THAT(waiting, ElementsAre(waiters[0].id, waiters[1].id, waiters[2].id, waiters[3].id));
  EXPECT_EQ(had_from(0), "----");
  end(*a_, holder);
  EXPECT_TRUE(try_once(*a_, one(kName))) << "who comes now is behind them";
  EXPECT_EQ(b_->try_acquire(waiters[3], kPatience)->ahead, 3U) << "asking again moves nobody";
  EXPECT_EQ(had_from(0), "+---");
  end(*b_, waiters[0]);
  EXPECT_EQ(had_from(1), "++-");
  end(*b_, waiters[1]);
  end(*b_, waiters[2]);
  EXPECT_EQ(had_from(3), "+");
  end(*b_, waiters[3]);
  expect_nothing_left();
}

// Each reserves one lock and needs the other's: whoever waits at the first in the order of the names goes on.
TEST_P(SharedLockContract, WhoWaitsForTwoLocksKeepsItsPlaceAtTheFirstAndGivesUpThoseBehind) {
  const LockSet both = document_locks({"1", "2"});
  Operation second = hold(*a_, document_locks({"2"}));
  Operation crossing = b_->open({}, both);
  EXPECT_EQ(b_->try_acquire(crossing, kPatience)->lock.name, LockName("2"));
  EXPECT_TRUE(try_once(*a_, document_locks({"1"}))) << "it is the first there, too";
  Operation other = a_->open({}, both);
  EXPECT_EQ(a_->try_acquire(other, kPatience)->lock.name, LockName("1"));
  end(*a_, second);
  EXPECT_EQ(b_->try_again(crossing, LockName("2"), kPatience), std::nullopt);
  end(*b_, crossing);
  EXPECT_EQ(a_->try_again(other, LockName("1"), kPatience), std::nullopt);
  end(*a_, other);
  expect_nothing_left();
}

TEST_P(SharedLockContract, ADirectoryIsHadThroughAStreamOfChangesBelowIt) {
  const LockName clinton("/clinton");
  std::atomic<bool> over = false;
  std::atomic<int> done = 0;
  std::vector<std::jthread> stream;
  for (int i = 0; i < 3; ++i) {
    stream.emplace_back([&, i] {
      const auto locks = open();
      for (int n = 0; !over; ++n) {
        Operation file =
            locks->open({}, tree_locks({"/clinton/" + std::to_string(i) + "-" + std::to_string(n)}));
        EXPECT_EQ(acquire(*locks, file, nothing_, {.limit = kPatience}), std::nullopt);
        // Each stays until the next one is in: the directory is never free, unless its place keeps them out.
        const int mine = ++done;
        const auto waited_for = [&] { return !locks->find_lock(clinton).value().waiting.empty(); };
        EXPECT_TRUE(wait_until([&] { return over || done > mine || waited_for(); }, kPatience));
        end(*locks, file);
      }
    });
  }
  ASSERT_TRUE(wait_until([&] { return done > 6; }, kPatience));
  Operation directory = b_->open({}, tree_locks({"/clinton", "/hillary"}));
  EXPECT_EQ(acquire(*b_, directory, nothing_, {.limit = seconds(20)}), std::nullopt);
  const int before = done;
  end(*b_, directory);
  EXPECT_TRUE(wait_until([&] { return done > before + 3; }, kPatience)) << "the stream goes on";
  over = true;
  stream.clear();
  expect_nothing_left();
}

TEST_P(SharedLockContract, ManySharersJoinAndLeaveAtOnceAndTheCountIsRight) {
  constexpr int kThreads = 8;
  std::vector<std::jthread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto locks = open();
      for (int round = 0; round < 10; ++round) {
        Operation operation = locks->open({}, one(kName, LockMode::kShared));
        if (acquire(*locks, operation, nothing_, {.limit = kPatience})) ++failed;
        end(*locks, operation);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  expect_nothing_left();
}

}  // namespace lockstep
