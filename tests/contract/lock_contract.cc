#include "tests/contract/lock_contract.h"

#include <algorithm>
#include <stdexcept>

#include "tests/support/eventually.h"

namespace lockstep {

LockContract::LockContract() : world_(GetParam()()), a_(open()), b_(open()) {}

std::vector<std::string> LockContract::holders_of(const std::optional<LockState>& lock) {
  std::vector<std::string> ids;
  if (lock) {
    for (const LockHolder& holder : lock->holders) ids.push_back(holder.id);
  }
  return ids;
}

Operation LockContract::hold(LockManager& locks, const LockSet& set, const OperationIntent& intent) {
  Operation operation = locks.open(intent, set);
  const std::optional<Refusal> refusal = locks.try_acquire(operation, kNoPlace);
  if (refusal) throw std::runtime_error(text_of(*refusal));
  return operation;
}

std::optional<Refusal> LockContract::try_once(LockManager& locks, const LockSet& set) {
  Operation operation = locks.open({}, set);
  std::optional<Refusal> refusal = locks.try_acquire(operation, kNoPlace);
  locks.finish(operation, OperationState::kAborted, "");
  locks.release(operation);
  return refusal;
}

void LockContract::end(LockManager& locks, Operation& operation) {
  const bool running = operation.state == OperationState::kRunning;
  locks.finish(operation, running ? OperationState::kDone : OperationState::kAborted, "");
  locks.release(operation);
}

std::optional<LeaseLost> LockContract::loss_in(const std::function<void()>& step) {
  try {
    step();
  } catch (const LeaseLost& lost) {
    return lost;
  }
  return std::nullopt;
}

LockManager& LockContract::mortal() {
  if (!mortal_) mortal_ = open(kShort);
  return *mortal_;
}

Operation LockContract::dead(const LockSet& set, const OperationIntent& intent, OperationState reached) {
  Operation operation = hold(mortal(), set, intent);
  if (reached != OperationState::kPending) mortal().commit(operation);
  if (reached == OperationState::kDone) mortal().finish(operation, reached, "");
  wait_for_death_of(operation);
  return operation;
}

void LockContract::wait_for_death_of(const Operation& operation) {
  const ServerTime death = operation.lease_until + std::chrono::milliseconds(250);
  // On a slow machine the locks have been taken some time after the journal's entry was written: their leases
  // are longer.
  const auto has_ended = [&](const LockHolder& holder) {
    return holder.id != operation.id || !holder.until || *holder.until < a_->now();
  };
  ASSERT_TRUE(support::wait_until(
      [&] {
        const std::vector<LockState> locks = a_->locks();
        return a_->now() > death && std::all_of(locks.begin(), locks.end(), [&](const LockState& lock) {
                 return std::all_of(lock.holders.begin(), lock.holders.end(), has_ended);
               });
      },
      kPatience));
}

void LockContract::expect_nothing_left() {
  for (const LockState& lock : a_->locks()) ADD_FAILURE() << "left: " << lock.name.text();
  for (const Operation& operation : a_->unresolved()) ADD_FAILURE() << "left: " << operation.id;
}

void NotingRollForward::roll_forward(LockManager& locks, Operation& operation) {
  operation.progress += 1;
  locks.record(operation);
  tokens.push_back(operation.token);
  epochs.push_back(operation.epoch);
  if (dies) throw std::runtime_error("dies");
}

}  // namespace lockstep
