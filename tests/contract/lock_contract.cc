#include "tests/contract/lock_contract.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "replicator/locks/sweep.h"
#include "tests/support/eventually.h"

namespace lockstep {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Resolution::Kind;

namespace {

constexpr milliseconds kNoMark{0};
constexpr seconds kPatience{30};
const LockName kName("things/1");

std::vector<std::string> holders_of(const std::optional<LockState>& lock) {
  std::vector<std::string> ids;
  if (lock) {
    for (const LockHolder& holder : lock->holders) ids.push_back(holder.id);
  }
  return ids;
}

LockSet one(const LockName& name, LockMode mode = LockMode::kExclusive) {
  return {{name, mode}};
}

/// Finishes operations of kind "mv" by noting that it did.
class NotingRollForward final : public RollForward {
 public:
  bool knows(const OperationIntent& intent) const override { return intent.kind == "mv"; }
  void roll_forward(LockManager& locks, Operation& operation) override {
    operation.progress += 1;
    locks.record(operation);
    tokens.push_back(operation.token);
    epochs.push_back(operation.epoch);
    if (dies) throw std::runtime_error("dies");
  }

  bool dies = false;
  std::vector<FencingToken> tokens;
  std::vector<std::int64_t> epochs;
};

const OperationIntent kMove{.kind = "mv", .from = "/a", .to = "/b", .target = "fs"};

}  // namespace

LockContract::LockContract() : world_(GetParam()()), a_(open()), b_(open()) {}

Operation LockContract::hold(LockManager& locks, const LockSet& set, const OperationIntent& intent) {
  Operation operation = locks.open(intent, set);
  const std::optional<Refusal> refusal = locks.try_acquire(operation, kNoMark);
  if (refusal) throw std::runtime_error(text_of(*refusal));
  return operation;
}

std::optional<Refusal> LockContract::try_once(LockManager& locks, const LockSet& set) {
  Operation operation = locks.open({}, set);
  std::optional<Refusal> refusal = locks.try_acquire(operation, kNoMark);
  locks.finish(operation, OperationState::kAborted, "");
  locks.release(operation);
  return refusal;
}

void LockContract::end(LockManager& locks, Operation& operation) {
  const bool running = operation.state == OperationState::kRunning;
  locks.finish(operation, running ? OperationState::kDone : OperationState::kAborted, "");
  locks.release(operation);
}

void LockContract::wait_for_death_of(const Operation& operation) {
  ASSERT_TRUE(wait_until([&] { return a_->now() > operation.lease_until + milliseconds(250); }, kPatience));
}

void LockContract::expect_nothing_left() {
  for (const LockState& lock : a_->locks()) ADD_FAILURE() << "left: " << lock.name.text();
  for (const Operation& operation : a_->unresolved()) ADD_FAILURE() << "left: " << operation.id;
}

TEST_P(LockContract, AFreeLockIsHadAndARefusedOneSaysByWhomAndUntilWhen) {
  Operation first = hold(*a_, one(kName));
  const std::optional<Refusal> refusal = try_once(*b_, one(kName));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->lock.name, kName);
  EXPECT_EQ(refusal->lock.mode, LockMode::kExclusive);
  ASSERT_THAT(refusal->lock.holders, SizeIs(1));
  EXPECT_EQ(refusal->lock.holders[0].id, first.id);
  ASSERT_TRUE(refusal->lock.holders[0].until);
  EXPECT_GT(*refusal->lock.holders[0].until, refusal->now);
  EXPECT_LE(*refusal->lock.holders[0].until, refusal->now + kLong);
  EXPECT_THAT(text_of(*refusal), HasSubstr("things/1 is locked exclusively by " + first.id + " until "));

  end(*a_, first);
  EXPECT_EQ(try_once(*b_, one(kName)), std::nullopt);
  expect_nothing_left();
}

TEST_P(LockContract, ASetIsHadAsAWholeOrNotAtAll) {
  Operation first = hold(*a_, document_locks({"2"}));
  const std::optional<Refusal> refusal = try_once(*b_, document_locks({"3", "1", "2"}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->lock.name.text(), "2");
  EXPECT_EQ(b_->find_lock(LockName("1")), std::nullopt);
  EXPECT_EQ(b_->find_lock(LockName("3")), std::nullopt);
  end(*a_, first);
  expect_nothing_left();
}

TEST_P(LockContract, ALockIsReentrantForItsOperationOnly) {
  std::vector<std::string> ids;
  for (int i = 0; i < 50; ++i) ids.push_back("document " + std::to_string(i));
  Operation first = hold(*a_, document_locks(ids));
  EXPECT_EQ(a_->try_acquire(first, kNoMark), std::nullopt);
  EXPECT_THAT(a_->locks(), SizeIs(50));
  EXPECT_TRUE(try_once(*a_, document_locks({ids[7]}))) << "another operation of the same client";
  end(*a_, first);
  expect_nothing_left();
}

TEST_P(LockContract, ReleasingWhatSomebodyElseHoldsChangesNothing) {
  Operation first = hold(*a_, global_lock());
  Operation second = b_->open({}, global_lock());
  b_->release(second);
  EXPECT_THAT(holders_of(a_->find_lock(LockName("global"))), ElementsAre(first.id));
  end(*a_, first);
  end(*b_, second);
  expect_nothing_left();
}

TEST_P(LockContract, AnyTextIsAName) {
  const std::string very_long = "/" + std::string(700, 'x');
  for (const std::string& text :
       {std::string("/a b/c?d=e&f#g%20"), std::string("Ärger/日本/🙂"), std::string("\"quoted\"\\"),
        very_long + "1", std::string(512, 'y'), std::string(513, 'y')}) {
    Operation operation = hold(*a_, one(LockName(text)));
    EXPECT_EQ(try_once(*b_, one(LockName(very_long + "2"))), std::nullopt) << text;
    const std::optional<LockState> lock = b_->find_lock(LockName(text));
    ASSERT_TRUE(lock) << text;
    EXPECT_EQ(lock->name.text(), text);
    EXPECT_TRUE(try_once(*b_, one(LockName(text)))) << text;
    end(*a_, operation);
  }
  expect_nothing_left();
}

TEST_P(LockContract, TokensGrowWithEachCommit) {
  FencingToken last = 0;
  for (int i = 0; i < 5; ++i) {
    LockManager& locks = i % 2 == 0 ? *a_ : *b_;
    Operation operation = hold(locks, one(LockName("n" + std::to_string(i % 3))));
    EXPECT_EQ(operation.token, 0);
    locks.renew(operation);
    locks.commit(operation);
    EXPECT_EQ(operation.state, OperationState::kRunning);
    EXPECT_GT(operation.token, last);
    EXPECT_EQ(operation.commit, operation.token);
    last = operation.token;
    operation.progress = 7;
    locks.record(operation);
    EXPECT_EQ(operation.token, last) << "a heartbeat is no commit";
    end(locks, operation);
  }
}

TEST_P(LockContract, TheJournalSaysWhatIsBeingDone) {
  Operation operation =
      hold(*a_, {{LockName("/a"), LockMode::kExclusive}, {LockName("/b"), LockMode::kExclusive}}, kMove);
  a_->commit(operation);
  operation.task = "node:17";
  operation.progress = 4711;
  a_->record(operation);
  const std::vector<Operation> open_ones = b_->unresolved();
  ASSERT_THAT(open_ones, SizeIs(1));
  const std::optional<Operation> found = b_->find_operation(operation.id);
  for (const Operation& each : {open_ones[0], found.value()}) {
    EXPECT_EQ(each.id, operation.id);
    EXPECT_EQ(each.intent, kMove);
    EXPECT_EQ(each.locks, operation.locks);
    EXPECT_EQ(each.state, OperationState::kRunning);
    EXPECT_EQ(each.owner, operation.id);
    EXPECT_EQ(each.epoch, 1);
    EXPECT_EQ(each.commit, operation.token);
    EXPECT_EQ(each.task, "node:17");
    EXPECT_EQ(each.progress, 4711);
    EXPECT_EQ(each.version, operation.version);
    EXPECT_EQ(each.lease_until, operation.lease_until);
  }
  end(*a_, operation);
  EXPECT_EQ(b_->find_operation(operation.id).value().state, OperationState::kDone) << "its history";
  b_->prune(seconds(3600));
  EXPECT_TRUE(b_->find_operation(operation.id));
  b_->prune(-seconds(3600));
  EXPECT_FALSE(b_->find_operation(operation.id));
  expect_nothing_left();
}

TEST_P(LockContract, ARenewedLeaseOutlivesItsFirstTerm) {
  const auto mortal = open(kShort);
  Operation operation = hold(*mortal, one(kName));
  const ServerTime first_term = operation.lease_until;
  while (a_->now() <= first_term + milliseconds(500)) mortal->renew(operation);
  Operation other = b_->open({}, one(kName));
  const std::optional<Refusal> refusal = acquire(*b_, other, nothing_, {});
  ASSERT_TRUE(refusal);
  EXPECT_GE(*refusal->lock.holders.at(0).until, refusal->now - milliseconds(250));
  mortal->commit(operation);
  end(*mortal, operation);
  end(*b_, other);
  expect_nothing_left();
}

// A1, A3: dead, or asleep, with locks and before the commit.
TEST_P(LockContract, WhoDiesBeforeItsCommitIsAbortedAndCannotCommitWhenItWakesUp) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, one(kName), kMove);
  wait_for_death_of(dead);
  Operation next = b_->open({}, one(kName));
  EXPECT_EQ(acquire(*b_, next, nothing_, {}), std::nullopt);
  try {
    mortal->commit(dead);
    FAIL() << "a zombie has committed";
  } catch (const LeaseLost& lost) {
    EXPECT_TRUE(lost.over());
    EXPECT_THAT(lost.what(), HasSubstr(dead.id));
  }
  EXPECT_EQ(a_->find_operation(dead.id).value().state, OperationState::kAborted);
  mortal->release(dead);
  EXPECT_THAT(holders_of(a_->find_lock(kName)), ElementsAre(next.id))
      << "the zombie has released its own only";
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, WhoIsOnlyLateKeepsItsLocks) {
  const auto mortal = open(kShort);
  Operation late = hold(*mortal, one(kName));
  wait_for_death_of(late);
  mortal->commit(late);  // nobody wanted it meanwhile
  EXPECT_TRUE(try_once(*b_, one(kName)));
  end(*mortal, late);
  expect_nothing_left();
}

TEST_P(LockContract, ACommandThatDiesUnderItsLockLosesItAndTheNextTokenIsGreater) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, global_lock());
  mortal->commit(dead);
  wait_for_death_of(dead);
  Operation next = b_->open({}, global_lock());
  ASSERT_EQ(acquire(*b_, next, nothing_, {}), std::nullopt);
  b_->commit(next);
  EXPECT_GT(next.token, dead.token);
  EXPECT_THROW(mortal->renew(dead), LeaseLost);
  EXPECT_THROW(mortal->finish(dead, OperationState::kDone, ""), LeaseLost);
  end(*b_, next);
  expect_nothing_left();
}

// A2: dead in the middle of its data.
TEST_P(LockContract, WhoDiesAfterItsCommitIsRolledForwardBeforeItsLocksAreFree) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, one(kName), kMove);
  mortal->commit(dead);
  wait_for_death_of(dead);

  Operation next = b_->open({}, one(kName));
  const std::optional<Refusal> refusal = acquire(*b_, next, nothing_, {});
  ASSERT_TRUE(refusal) << "nobody may take the locks of a half-done change";
  EXPECT_THAT(holders_of(refusal->lock), ElementsAre(dead.id));
  EXPECT_EQ(b_->resolve(dead.id, kName, Adoption::kRefused).kind, Kind::kNeedsRollForward);
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kNeedsRollForward);

  NotingRollForward roll;
  EXPECT_EQ(acquire(*b_, next, roll, {}), std::nullopt);
  ASSERT_THAT(roll.tokens, SizeIs(1));
  EXPECT_GT(roll.tokens[0], dead.token);
  EXPECT_THAT(roll.epochs, ElementsAre(2));
  try {
    mortal->record(dead);
    FAIL() << "a zombie has gone on";
  } catch (const LeaseLost&) {
  }
  const Operation over = a_->find_operation(dead.id).value();
  EXPECT_EQ(over.state, OperationState::kDone);
  EXPECT_EQ(over.commit, dead.token) << "the order of commits stays";
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, TheLocksOfAnAdoptedOperationAreNotItsOldOwnersToRelease) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, one(kName), kMove);
  mortal->commit(dead);
  wait_for_death_of(dead);
  Resolution adopted = b_->resolve(dead.id, kName, Adoption::kAllowed);
  ASSERT_EQ(adopted.kind, Kind::kAdopted);
  EXPECT_EQ(b_->resolve(dead.id, kName, Adoption::kAllowed).kind, Kind::kAlive) << "its adopter has a lease";
  try {
    mortal->record(dead);
    FAIL();
  } catch (const LeaseLost& lost) {
    EXPECT_FALSE(lost.over());
  }
  EXPECT_THAT(holders_of(a_->find_lock(kName)), ElementsAre(dead.id));
  end(*b_, *adopted.operation);
  expect_nothing_left();
}

// A6: the one who takes over dies too.
TEST_P(LockContract, ADeadAdopterIsAdoptedAgain) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, one(kName), kMove);
  mortal->commit(dead);
  wait_for_death_of(dead);
  NotingRollForward dying;
  dying.dies = true;
  EXPECT_THROW(resolve_and_finish(*mortal, dying, dead.id, kName), std::runtime_error);
  const Operation adopted = a_->find_operation(dead.id).value();
  EXPECT_EQ(adopted.epoch, 2);
  wait_for_death_of(adopted);
  NotingRollForward second;
  EXPECT_EQ(resolve_and_finish(*b_, second, dead.id, kName).kind, Kind::kGone);
  EXPECT_THAT(second.epochs, ElementsAre(3));
  EXPECT_GT(second.tokens.at(0), dying.tokens.at(0));
  expect_nothing_left();
}

// A7: dead between the end of the change and the release.
TEST_P(LockContract, LocksThatWereNotReleasedAfterTheEndAreFreeWhenTheirLeaseIsOver) {
  const auto mortal = open(kShort);
  Operation dead = hold(*mortal, document_locks({"1", "2"}), kMove);
  mortal->commit(dead);
  mortal->finish(dead, OperationState::kDone, "");
  Operation next = b_->open({}, document_locks({"2", "3"}));
  EXPECT_EQ(acquire(*b_, next, nothing_, {.limit = kPatience}), std::nullopt);
  end(*b_, next);
  EXPECT_EQ(b_->find_lock(LockName("1")), std::nullopt) << "all that the dead one had was released";
  expect_nothing_left();
}

// A8: a lock request that was on its way when its operation was aborted.
TEST_P(LockContract, ALockThatArrivesAfterItsOperationWasAbortedIsVoid) {
  const auto mortal = open(kShort);
  Operation zombie = mortal->open(kMove, one(kName));
  wait_for_death_of(zombie);
  EXPECT_EQ(sweep(*b_, nothing_).aborted, 1);
  EXPECT_EQ(mortal->try_acquire(zombie, kNoMark), std::nullopt);
  EXPECT_THROW(mortal->commit(zombie), LeaseLost);
  Operation next = b_->open({}, one(kName));
  EXPECT_EQ(acquire(*b_, next, nothing_, {.limit = kPatience}), std::nullopt);
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, ASweepClearsUpAfterAllWhoDied) {
  const auto mortal = open(kShort);
  NotingRollForward roll;
  (void)mortal->open(kMove, one(LockName("never taken")));
  (void)hold(*mortal, one(LockName("pending")), kMove);
  Operation running = hold(*mortal, one(LockName("running")), kMove);
  mortal->commit(running);
  Operation command = hold(*mortal, one(LockName("command")));
  mortal->commit(command);
  Operation over = hold(*mortal, one(LockName("over")), kMove);
  mortal->finish(over, OperationState::kAborted, "");
  Operation alive = hold(*a_, one(LockName("alive")), kMove);
  wait_for_death_of(over);

  const SweepResult shy = sweep(*b_, nothing_);
  EXPECT_EQ(shy.aborted, 3);
  EXPECT_EQ(shy.needs_roll_forward, 1);
  EXPECT_EQ(shy.released, 1);
  const SweepResult able = sweep(*b_, roll);
  EXPECT_EQ(able.rolled_forward, 1);
  EXPECT_THAT(b_->locks(), SizeIs(1));
  EXPECT_THAT(b_->unresolved(), SizeIs(1)) << "who lives is left alone";
  end(*a_, alive);
  expect_nothing_left();
}

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
  EXPECT_EQ(a_->find_lock(LockName("2"))->waiting, std::nullopt) << "no mark is left";
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

// Read, wait and write without anything but the lock: what two do at once is lost.
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

TEST_P(LockContract, ABrokenLockIsFreeAndItsHolderIsDeposed) {
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kNotLocked);
  Operation holder = hold(*a_, {{LockName("other"), LockMode::kExclusive}, {kName, LockMode::kExclusive}});
  a_->commit(holder);
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kReleased);
  EXPECT_THAT(b_->locks(), IsEmpty()) << "an operation has all of its locks or none";
  try {
    a_->renew(holder);
    FAIL();
  } catch (const LeaseLost& lost) {
    EXPECT_THAT(lost.what(), HasSubstr("broken by a test"));
    EXPECT_TRUE(lost.over());
  }
  EXPECT_EQ(try_once(*b_, one(kName)), std::nullopt);
  expect_nothing_left();
}

// --- Shared locks ---

namespace {

/// A cell of the compatibility matrix: who holds the lock, how, and what A is told that asks for more.
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
  const auto mortal = open(kShort);
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
        Operation other = hold(dead ? *mortal : *b_, one(kName, mode));
        names[other.id] = std::string(1, letter);
        holders.push_back(std::move(other));
      }
    }
    if (dead) {
      wait_for_death_of(holders.at(0));
      if (cell.asked == x || mode == x) {
        ASSERT_TRUE(a_->try_extend(a, {kName, cell.asked}))
            << "a lease is no reason to take a lock away (L2)";
        EXPECT_EQ(a_->resolve(holders[0].id, kName, Adoption::kRefused).kind, Kind::kGone);
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
    for (Operation& holder : holders) dead ? mortal->release(holder) : end(*b_, holder);
    if (dead) sweep(*b_, nothing_);
    expect_nothing_left();
  }
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

TEST_P(SharedLockContract, AWaitingMarkKeepsNewSharersOutForItsTime) {
  Operation sharer = hold(*a_, one(kName, LockMode::kShared));
  Operation waiter = b_->open({}, one(kName));
  EXPECT_TRUE(b_->try_acquire(waiter, seconds(2)));
  const std::optional<Refusal> kept_out = try_once(*a_, one(kName, LockMode::kShared));
  ASSERT_TRUE(kept_out);
  EXPECT_TRUE(kept_out->queued);
  EXPECT_THAT(text_of(*kept_out), HasSubstr("is kept for " + waiter.id));
  EXPECT_EQ(a_->try_acquire(sharer, kNoMark), std::nullopt) << "who is in stays in";
  end(*a_, sharer);
  const std::optional<Refusal> still = try_once(*a_, one(kName, LockMode::kShared));
  ASSERT_TRUE(still) << "the mark outlives the last sharer";
  EXPECT_THAT(a_->locks(), IsEmpty()) << "a mark is no lock";
  EXPECT_TRUE(wait_until([&] { return !try_once(*a_, one(kName, LockMode::kShared)); }, kPatience))
      << "it runs out";
  EXPECT_EQ(b_->try_acquire(waiter, kNoMark), std::nullopt);
  end(*b_, waiter);
  expect_nothing_left();
}

TEST_P(SharedLockContract, ADirectoryIsHadThroughAStreamOfChangesBelowIt) {
  std::atomic<bool> over = false;
  std::atomic<int> done = 0;
  std::vector<std::jthread> stream;
  for (int i = 0; i < 3; ++i) {
    stream.emplace_back([&, i] {
      const auto locks = open();
      for (int n = 0; !over; ++n) {
        Operation file =
            locks->open({}, tree_locks({"/clinton/" + std::to_string(i) + "-" + std::to_string(n)}));
        if (!acquire(*locks, file, nothing_, {.limit = kPatience})) ++done;
        // Always somebody inside, so that the directory is free for a moment only by chance.
        std::this_thread::sleep_for(milliseconds(30));
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
