// The contract of LockManager (replicator/locks/lock_manager.h, L1 to L6) as one suite for every backend.
// Each backend brings a LockWorld; a backend with shared locks keeps SharedLockContract too. The tests are in
// lock_contract_*.cc, by theme.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replicator/locks/acquire.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// An empty place for locks, which no other test uses.
class LockWorld {
 public:
  virtual ~LockWorld() = default;

  /// Another client of the same locks, prepared.
  virtual std::unique_ptr<LockManager> open(std::chrono::milliseconds lease) = 0;
};

using MakeLockWorld = std::function<std::unique_ptr<LockWorld>()>;

class LockContract : public testing::TestWithParam<MakeLockWorld> {
 protected:
  static constexpr std::chrono::milliseconds kLong{60'000};  ///< nobody dies
  static constexpr std::chrono::milliseconds kShort{1'000};  ///< dies as soon as it does not renew
  static constexpr std::chrono::milliseconds kNoPlace{0};
  static constexpr std::chrono::seconds kPatience{30};
  const LockName kName{"things/1"};
  const OperationIntent kMove{.kind = "mv", .from = "/a", .to = "/b", .target = "fs"};

  LockContract();

  std::unique_ptr<LockManager> open(std::chrono::milliseconds lease = kLong) { return world_->open(lease); }

  static LockSet one(const LockName& name, LockMode mode = LockMode::kExclusive) { return {{name, mode}}; }
  static std::vector<std::string> holders_of(const std::optional<LockState>& lock);

  /// An operation that holds its locks.
  static Operation hold(LockManager& locks, const LockSet& set, const OperationIntent& intent = {});
  /// Tries once with a new operation; aborts it when it is refused.
  static std::optional<Refusal> try_once(LockManager& locks, const LockSet& set);
  /// finish() and release().
  static void end(LockManager& locks, Operation& operation);
  /// The LeaseLost that `step` throws; none when it throws none.
  static std::optional<LeaseLost> loss_in(const std::function<void()>& step);

  /// A client whose operations die as soon as it does not renew them.
  LockManager& mortal();
  /// One of its operations, which held these locks, reached this state, and whose lease has expired.
  Operation dead(const LockSet& set, const OperationIntent& intent, OperationState reached);

  /// Waits until the lease of the operation has expired by the server's clock.
  void wait_for_death_of(const Operation& operation);

  /// No lock and no unresolved operation is left.
  void expect_nothing_left();

  std::unique_ptr<LockWorld> world_;
  std::unique_ptr<LockManager> a_;
  std::unique_ptr<LockManager> b_;
  std::unique_ptr<LockManager> mortal_;
  NoRollForward nothing_;
};

class SharedLockContract : public LockContract {};

/// Rolls operations of kind "mv" forward by recording that it did.
class NotingRollForward final : public RollForward {
 public:
  bool knows(const Operation& operation) const override { return operation.intent.kind == "mv"; }
  void roll_forward(LockManager& locks, Operation& operation) override;

  bool dies = false;
  std::vector<FencingToken> tokens;
  std::vector<std::int64_t> epochs;
};

}  // namespace lockstep
