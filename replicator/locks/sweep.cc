#include "replicator/locks/sweep.h"

#include <iterator>
#include <map>

namespace lockstep {
namespace {

void note(SweepResult& result, const Error& error) {
  if (error.retryable()) throw error;
  result.failures.emplace_back(error.what());
}

/// As resolve_and_finish(); kAlive if another process resolves it at the same time, or it cannot be resolved.
Resolution resolved_by_anyone(LockManager& locks, RollForward& roll_forward, const std::string& holder,
                              const std::vector<LockName>& met, SweepResult& result) {
  try {
    return resolve_and_finish(locks, roll_forward, holder, met);
  } catch (const LeaseLost&) {
    return {};
  } catch (const Error& error) {
    note(result, error);
    return {};
  }
}

void sweep_operations(LockManager& locks, RollForward& roll_forward, SweepResult& result) {
  const ServerTime now = locks.now();
  for (const Operation& operation : locks.unresolved([&](const Error& error) { note(result, error); })) {
    if (operation.lease_until >= now) {
      ++result.under_lease;
      continue;
    }
    const bool roll = operation.state == OperationState::kRunning && operation.needs_roll_forward();
    switch (resolved_by_anyone(locks, roll_forward, operation.id, {}, result).kind) {
      case Resolution::Kind::kGone:
        ++(roll ? result.rolled_forward : result.aborted);
        break;
      case Resolution::Kind::kNeedsRollForward:
        ++result.needs_roll_forward;
        break;
      case Resolution::Kind::kAlive:
      case Resolution::Kind::kAdopted:
        break;
    }
  }
}

/// The locks whose own leases have expired, by their holders.
std::map<std::string, std::vector<LockName>> expired_locks(LockManager& locks, SweepResult& result) {
  const ServerTime now = locks.now();
  std::map<std::string, std::vector<LockName>> expired;
  for (const LockState& lock : locks.locks([&](const Error& error) { note(result, error); })) {
    for (const LockHolder& holder : lock.holders) {
      if (holder.until && *holder.until < now) expired[holder.id].push_back(lock.name);
    }
  }
  return expired;
}

void sweep_locks(LockManager& locks, RollForward& roll_forward, SweepResult& result) {
  // One question for each holder, however many locks it has.
  for (const auto& [holder, names] : expired_locks(locks, result)) {
    const Resolution resolution = resolved_by_anyone(locks, roll_forward, holder, names, result);
    if (resolution.kind == Resolution::Kind::kGone) result.released += std::ssize(names);
  }
}

}  // namespace

Resolution resolve_and_finish(LockManager& locks, RollForward& roll_forward, const std::string& holder,
                              const std::vector<LockName>& met) {
  Resolution resolution = locks.resolve(holder, met, Adoption::kRefused);
  if (resolution.kind != Resolution::Kind::kNeedsRollForward) return resolution;
  if (!roll_forward.knows(*resolution.operation)) return resolution;
  resolution = locks.resolve(holder, met, Adoption::kAllowed);
  if (resolution.kind != Resolution::Kind::kAdopted) return resolution;
  Operation& operation = *resolution.operation;
  roll_forward.roll_forward(locks, operation);
  locks.finish(operation, OperationState::kDone, "finished by " + operation.owner);
  locks.release(operation);
  return {Resolution::Kind::kGone, {}, {}};
}

SweepResult sweep(LockManager& locks, RollForward& roll_forward, std::chrono::milliseconds prune_after) {
  SweepResult result;
  sweep_operations(locks, roll_forward, result);
  sweep_locks(locks, roll_forward, result);
  locks.prune(prune_after);
  return result;
}

}  // namespace lockstep
