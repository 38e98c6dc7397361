// Taking, giving back and breaking locks, and what the journal says of it.
#include <gmock/gmock.h>

#include "tests/contract/lock_contract.h"

namespace lockstep {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
  EXPECT_EQ(a_->try_acquire(first, kNoPlace), std::nullopt);
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
  FencingToken last =
      a_->now().time_since_epoch().count() - 60'000;  // greater than any other server's so far
  std::int64_t commit = -1;
  for (int i = 0; i < 5; ++i) {
    LockManager& locks = i % 2 == 0 ? *a_ : *b_;
    Operation operation = hold(locks, one(LockName("n" + std::to_string(i % 3))));
    EXPECT_EQ(operation.token, 0);
    locks.renew(operation);
    locks.commit(operation);
    EXPECT_EQ(operation.state, OperationState::kRunning);
    EXPECT_GT(operation.token, last);
    EXPECT_GT(operation.commit, commit) << "the order of commits";
    last = operation.token;
    commit = operation.commit;
    operation.progress = 7;
    locks.record(operation);
    EXPECT_EQ(operation.token, last) << "a heartbeat is no commit";
    const FencingToken met = last + 1'000'000;
    locks.raise(operation, met);
    EXPECT_GT(operation.token, met);
    last = operation.token;
    EXPECT_THROW(locks.raise(operation, kMaxToken), Error) << "it would use up the tokens of everybody";
    EXPECT_EQ(operation.token, last);
    locks.record(operation);
    EXPECT_EQ(operation.token, last);
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
    EXPECT_EQ(each.commit, operation.commit);
    EXPECT_EQ(each.token, operation.token);
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

TEST_P(LockContract, ABrokenLockIsFreeAndItsHolderIsDeposed) {
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kNotLocked);
  Operation holder = hold(*a_, {{LockName("other"), LockMode::kExclusive}, {kName, LockMode::kExclusive}});
  a_->commit(holder);
  EXPECT_EQ(b_->break_lock(kName, "a test"), Broken::kReleased);
  EXPECT_THAT(b_->locks(), IsEmpty()) << "an operation has all of its locks or none";
  const auto lost = loss_in([&] { a_->renew(holder); });
  ASSERT_TRUE(lost);
  EXPECT_THAT(lost->what(), HasSubstr("broken by a test"));
  EXPECT_TRUE(lost->over());
  EXPECT_EQ(try_once(*b_, one(kName)), std::nullopt);
  expect_nothing_left();
}

}  // namespace lockstep
