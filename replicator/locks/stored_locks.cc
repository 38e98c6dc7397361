#include "replicator/locks/stored_locks.h"

#include <algorithm>
#include <utility>

#include "replicator/locks/patience.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

/// The first so many locks of an operation get their own lease renewed, so that a refusal has its end without
/// a second question, and a deleted index is noticed. Of others only the journal knows.
constexpr std::size_t kMaxRenewedLocks = 64;

/// By so much at most a token exceeds the fence that it has to exceed.
constexpr FencingToken kLongestLeap = 1'000'000;

constexpr int kTries = 10;

LockSet with(LockSet locks, LockRequest request) {
  locks.push_back(std::move(request));
  return lock_set(std::move(locks));
}

/// For a release, which ignores modes.
LockSet with(LockSet locks, const std::vector<LockName>& more) {
  for (const LockName& name : more) locks.push_back({name, LockMode::kShared});
  return lock_set(std::move(locks));
}

}  // namespace

StoredLocks::StoredLocks(std::chrono::milliseconds lease) : lease_(lease), self_(new_operation_id()) {}

void StoredLocks::use(std::unique_ptr<LockStore> store, std::unique_ptr<Journal> journal) {
  store_ = std::move(store);
  journal_ = std::move(journal);
}

ServerTime StoredLocks::now() {
  return store_->now();
}

Operation StoredLocks::open(const OperationIntent& intent, LockSet locks) {
  Operation operation;
  operation.id = new_operation_id();
  operation.intent = intent;
  operation.locks = lock_set(std::move(locks));
  journal_->open(operation);
  return operation;
}

std::optional<Refusal> StoredLocks::try_acquire(const Operation& operation, std::chrono::milliseconds place) {
  return store_->acquire_all(operation.locks, {operation.id, lease_, place, operation.intent.under});
}

std::optional<Refusal> StoredLocks::try_again(const Operation& operation, const LockName& at,
                                              std::chrono::milliseconds place) {
  return store_->acquire_again(operation.locks, at, {operation.id, lease_, place, operation.intent.under});
}

std::optional<Refusal> StoredLocks::try_extend(Operation& operation, const LockRequest& request) {
  Operation changed = operation;
  changed.locks = with(operation.locks, request);
  const LockSet before = operation.locks;
  if (changed.locks != before) journal_->step(operation, changed);
  std::optional<Refusal> refusal =
      store_->acquire_one(request, {operation.id, lease_, {}, operation.intent.under});
  if (refusal && operation.locks != before) {
    changed = operation;
    changed.locks = before;
    journal_->step(operation, changed);
  }
  return refusal;
}

void StoredLocks::downgrade(const Operation& operation, const LockName& name) {
  store_->downgrade(name, operation.id);
}

std::optional<std::string> StoredLocks::has_vanished(Place place) {
  std::optional<std::string> story = vanished(place);
  any_vanished_ = any_vanished_ || story;
  return story;
}

void StoredLocks::renew(Operation& operation) {
  if (const auto story = has_vanished(Place::kJournal)) throw LeaseLost(*story, true);
  const std::optional<std::string> without_locks = has_vanished(Place::kLocks);
  journal_->step(operation, operation);
  if (without_locks) {
    lose(operation, *without_locks);
    return;
  }
  const std::size_t some = std::min(operation.locks.size(), kMaxRenewedLocks);
  const LockSet renewed(operation.locks.begin(), operation.locks.begin() + static_cast<std::ptrdiff_t>(some));
  const std::optional<LockName> gone = store_->renew(renewed, operation.id, lease_);
  if (!gone) return;
  const std::string story = "the lock " + gone->text() + " of the operation " + operation.id +
                            " is gone: it was deleted, or the index of locks was";
  lose(operation, story);
}

void StoredLocks::lose(Operation& operation, const std::string& story) {
  // A half-done change takes its locks again and continues, as its adopter would have to.
  const LockStore::Grant grant{operation.id, lease_, {}, operation.intent.under};
  if (operation.needs_roll_forward()) {
    if (any_vanished_) restore();
    if (!store_->acquire_all(operation.locks, grant)) return;
  }
  if (!operation.needs_roll_forward()) finish(operation, OperationState::kAborted, story);
  throw LeaseLost(story, operation.resolved());
}

void StoredLocks::commit(Operation& operation) {
  Operation changed = operation;
  changed.state = OperationState::kRunning;
  Patience(lease_).insist([&] { journal_->step(operation, changed); });
}

void StoredLocks::record(Operation& operation) {
  if (const auto story = has_vanished(Place::kJournal)) throw LeaseLost(*story, true);
  journal_->step(operation, operation);
}

void StoredLocks::raise(Operation& operation, FencingToken above) {
  if (above > kMostExceeded) {
    throw Error({"drawing a fencing token for the operation " + operation.id,
                 "one above " + std::to_string(above) + " leaves no room for greater tokens"});
  }
  // Another one that meets the same fence draws another token, even from a journal that was deleted in
  // between.
  const auto leap = static_cast<FencingToken>(std::random_device()() % kLongestLeap);
  Operation changed = operation;
  changed.token = journal_->draw(above + leap);
  journal_->step(operation, changed);
}

void StoredLocks::finish(Operation& operation, OperationState outcome, const std::string& reason) {
  if (any_vanished_) {
    if (const auto story = has_vanished(Place::kJournal)) throw LeaseLost(*story, true);
  }
  Operation changed = operation;
  changed.state = outcome;
  changed.reason = reason;
  // Abandoned locks may be left to their lease.
  const milliseconds limit = outcome == OperationState::kDone ? lease_ : milliseconds(0);
  Patience(limit).insist([&] { journal_->step(operation, changed); });
}

void StoredLocks::release(const Operation& operation) {
  const milliseconds limit = operation.state == OperationState::kDone ? lease_ : milliseconds(0);
  if (!any_vanished_ || !has_vanished(Place::kLocks))
    Patience(limit).insist([&] { store_->release(operation.locks, {.holder = operation.id}); });
  if (operation.resolved() && !operation.needs_roll_forward()) journal_->erase(operation);
}

Resolution StoredLocks::resolve(const std::string& holder, const std::vector<LockName>& met,
                                Adoption adoption) {
  const std::optional<Operation> found = journal_->find(holder);
  if (!found) return resolve_without_entry(holder, met);
  Resolution resolution = journal_->seize(*found, self_, adoption);
  if (resolution.kind == Resolution::Kind::kGone) {
    // The entry names them, unless the holder took them after it last wrote the entry.
    Operation over = *resolution.operation;
    over.locks = with(over.locks, met);
    release(over);
    resolution.operation.reset();
  }
  return resolution;
}

Resolution StoredLocks::resolve_without_entry(const std::string& holder, const std::vector<LockName>& met) {
  if (met.empty()) return {Resolution::Kind::kGone, {}, {}};
  store_->release(with(LockSet(), met), {.holder = holder, .only_expired = true});
  const std::optional<LockState> state = find_lock(met.front());
  if (state) {
    for (const LockHolder& each : state->holders) {
      if (each.id == holder) return {Resolution::Kind::kAlive, each.until, {}};
    }
  }
  return {Resolution::Kind::kGone, {}, {}};
}

std::optional<Operation> StoredLocks::find_operation(const std::string& id) {
  return journal_->find(id);
}

std::vector<Operation> StoredLocks::unresolved(const Unreadable& unreadable) {
  return journal_->unresolved(unreadable);
}

void StoredLocks::prune(std::chrono::milliseconds age) {
  journal_->prune(age);
  store_->prune();
}

std::optional<LockState> StoredLocks::find_lock(const LockName& name) {
  return store_->find(name);
}

std::vector<LockState> StoredLocks::locks(const Unreadable& unreadable) {
  return store_->all(unreadable);
}

Broken StoredLocks::break_lock(const LockName& name, const std::string& by) {
  const std::optional<LockState> found = store_->find(name);
  if (!found) return Broken::kNotLocked;
  for (const LockHolder& holder : found->holders) {
    if (holder.until && break_holder(name, holder.id, by) == Broken::kNeedsRollForward)
      return Broken::kNeedsRollForward;
  }
  store_->remove_nameless(name);
  return Broken::kReleased;
}

Broken StoredLocks::break_holder(const LockName& name, const std::string& holder, const std::string& by) {
  for (int tried = 0; tried < kTries; ++tried) {
    const std::optional<Operation> operation = journal_->find(holder);
    if (!operation) {
      store_->release({{name, LockMode::kShared}}, {.holder = holder});
      return Broken::kReleased;
    }
    if (operation->state == OperationState::kRunning && operation->needs_roll_forward())
      return Broken::kNeedsRollForward;
    if (operation->resolved() || journal_->abort(*operation, self_, "its lock was broken by " + by)) {
      store_->release(with(operation->locks, std::vector{name}), {.holder = holder});
      return Broken::kReleased;
    }
  }
  throw lock_is_busy(name);
}

}  // namespace lockstep
