// What becomes of an operation whose owner dies or falls asleep, at each step of the protocol.
#include <gmock/gmock.h>

#include "replicator/locks/sweep.h"
#include "tests/contract/lock_contract.h"

namespace lockstep {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Kind = Resolution::Kind;

TEST_P(LockContract, ARenewedLeaseOutlivesItsFirstTerm) {
  Operation operation = hold(mortal(), one(kName));
  const ServerTime first_term = operation.lease_until;
  while (a_->now() <= first_term + milliseconds(500)) mortal().renew(operation);
  Operation other = b_->open({}, one(kName));
  const std::optional<Refusal> refusal = acquire(*b_, other, nothing_, {});
  ASSERT_TRUE(refusal);
  EXPECT_GE(*refusal->lock.holders.at(0).until, refusal->now - milliseconds(250));
  mortal().commit(operation);
  end(mortal(), operation);
  end(*b_, other);
  expect_nothing_left();
}

// Dead, or asleep, with locks and before the commit.
TEST_P(LockContract, WhoDiesBeforeItsCommitIsAbortedAndCannotCommitWhenItWakesUp) {
  Operation zombie = dead(one(kName), kMove, OperationState::kPending);
  Operation next = b_->open({}, one(kName));
  EXPECT_EQ(acquire(*b_, next, nothing_, {}), std::nullopt);
  const auto lost = loss_in([&] { mortal().commit(zombie); });
  ASSERT_TRUE(lost) << "a zombie has committed";
  EXPECT_TRUE(lost->over());
  EXPECT_THAT(lost->what(), HasSubstr(zombie.id));
  EXPECT_EQ(a_->find_operation(zombie.id).value().state, OperationState::kAborted);
  mortal().release(zombie);
  EXPECT_THAT(holders_of(a_->find_lock(kName)), ElementsAre(next.id))
      << "the zombie has released its own only";
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, WhoIsOnlyLateKeepsItsLocks) {
  Operation late = dead(one(kName), {}, OperationState::kPending);
  mortal().commit(late);  // nobody wanted it meanwhile
  EXPECT_TRUE(try_once(*b_, one(kName)));
  end(mortal(), late);
  expect_nothing_left();
}

TEST_P(LockContract, ACommandThatDiesUnderItsLockLosesItAndTheNextTokenIsGreater) {
  Operation zombie = dead(global_lock(), {}, OperationState::kRunning);
  Operation next = b_->open({}, global_lock());
  ASSERT_EQ(acquire(*b_, next, nothing_, {}), std::nullopt);
  b_->commit(next);
  EXPECT_GT(next.token, zombie.token);
  EXPECT_THROW(mortal().renew(zombie), LeaseLost);
  EXPECT_THROW(mortal().finish(zombie, OperationState::kDone, ""), LeaseLost);
  end(*b_, next);
  expect_nothing_left();
}

// Dead in the middle of its data.
TEST_P(LockContract, WhoDiesAfterItsCommitIsRolledForwardBeforeItsLocksAreFree) {
  Operation zombie = dead(one(kName), kMove, OperationState::kRunning);

  Operation next = b_->open({}, one(kName));
  const std::optional<Refusal> refusal = acquire(*b_, next, nothing_, {});
  ASSERT_TRUE(refusal) << "nobody may take the locks of a half-done change";
  EXPECT_THAT(holders_of(refusal->lock), ElementsAre(zombie.id));
  EXPECT_EQ(b_->resolve(zombie.id, {kName}, Adoption::kRefused).kind, Kind::kNeedsRollForward);
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kNeedsRollForward);

  NotingRollForward roll;
  EXPECT_EQ(acquire(*b_, next, roll, {}), std::nullopt);
  ASSERT_THAT(roll.tokens, SizeIs(1));
  EXPECT_GT(roll.tokens[0], zombie.token);
  EXPECT_THAT(roll.epochs, ElementsAre(2));
  EXPECT_TRUE(loss_in([&] { mortal().record(zombie); })) << "a zombie has gone on";
  const Operation over = a_->find_operation(zombie.id).value();
  EXPECT_EQ(over.state, OperationState::kDone);
  EXPECT_EQ(over.commit, zombie.commit) << "the order of commits stays";
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, TheLocksOfAnAdoptedOperationAreNotItsOldOwnersToRelease) {
  Operation zombie = dead(one(kName), kMove, OperationState::kRunning);
  Resolution adopted = b_->resolve(zombie.id, {kName}, Adoption::kAllowed);
  ASSERT_EQ(adopted.kind, Kind::kAdopted);
  EXPECT_EQ(b_->resolve(zombie.id, {kName}, Adoption::kAllowed).kind, Kind::kAlive)
      << "its adopter has a lease";
  const auto lost = loss_in([&] { mortal().record(zombie); });
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->over());
  EXPECT_THAT(holders_of(a_->find_lock(kName)), ElementsAre(zombie.id));
  end(*b_, *adopted.operation);
  expect_nothing_left();
}

// The adopter dies too.
TEST_P(LockContract, ADeadAdopterIsAdoptedAgain) {
  const Operation first = dead(one(kName), kMove, OperationState::kRunning);
  NotingRollForward dying;
  dying.dies = true;
  EXPECT_THROW(resolve_and_finish(mortal(), dying, first.id, {kName}), std::runtime_error);
  const Operation adopted = a_->find_operation(first.id).value();
  EXPECT_EQ(adopted.epoch, 2);
  wait_for_death_of(adopted);
  NotingRollForward second;
  EXPECT_EQ(resolve_and_finish(*b_, second, first.id, {kName}).kind, Kind::kGone);
  EXPECT_THAT(second.epochs, ElementsAre(3));
  EXPECT_GT(second.tokens.at(0), dying.tokens.at(0));
  expect_nothing_left();
}

// Dead between the end of the change and the release.
TEST_P(LockContract, LocksThatWereNotReleasedAfterTheEndAreFreeWhenTheirLeaseIsOver) {
  (void)dead(document_locks({"1", "2"}), kMove, OperationState::kDone);
  Operation next = b_->open({}, document_locks({"2", "3"}));
  EXPECT_EQ(acquire(*b_, next, nothing_, {.limit = kPatience}), std::nullopt);
  end(*b_, next);
  EXPECT_EQ(b_->find_lock(LockName("1")), std::nullopt) << "all that the dead one had was released";
  expect_nothing_left();
}

// A lock request on its way while its operation is aborted.
TEST_P(LockContract, ALockThatArrivesAfterItsOperationWasAbortedIsVoid) {
  Operation zombie = mortal().open(kMove, one(kName));
  wait_for_death_of(zombie);
  EXPECT_EQ(sweep(*b_, nothing_).aborted, 1);
  EXPECT_EQ(mortal().try_acquire(zombie, kNoPlace), std::nullopt);
  EXPECT_THROW(mortal().commit(zombie), LeaseLost);
  Operation next = b_->open({}, one(kName));
  EXPECT_EQ(acquire(*b_, next, nothing_, {.limit = kPatience}), std::nullopt);
  end(*b_, next);
  expect_nothing_left();
}

TEST_P(LockContract, ASweepClearsUpAfterAllWhoDied) {
  NotingRollForward roll;
  (void)mortal().open(kMove, one(LockName("never taken")));
  (void)hold(mortal(), one(LockName("pending")), kMove);
  Operation running = hold(mortal(), one(LockName("running")), kMove);
  mortal().commit(running);
  Operation command = hold(mortal(), one(LockName("command")));
  mortal().commit(command);
  Operation over = hold(mortal(), one(LockName("over")), kMove);
  mortal().finish(over, OperationState::kAborted, "");
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

}  // namespace lockstep
