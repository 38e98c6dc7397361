// The locks as rows. Each call is one function of the server, and so one transaction for all names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/locks/backends/postgres/session.h"
#include "replicator/locks/lock_store.h"

namespace lockstep {

class PostgresLockRows final : public LockStore {
 public:
  /// `session` must outlive this.
  explicit PostgresLockRows(PostgresLockSession& session) : session_(session) {}

  ServerTime now() override;
  std::optional<Refusal> acquire_all(const LockSet& locks, const Grant& grant) override;
  /// A refusal of all costs no more than one of one.
  std::optional<Refusal> acquire_again(const LockSet& locks, const LockName& at, const Grant& grant) override;
  std::optional<Refusal> acquire_one(const LockRequest& request, const Grant& grant) override;
  void release(const LockSet& locks, const Leave& leave) override;
  void downgrade(const LockName& name, const std::string& holder) override;
  /// Writes nothing: a lock shows the lease of its holder's journal entry.
  std::optional<LockName> renew(const LockSet& locks, const std::string& holder,
                                std::chrono::milliseconds lease) override;
  std::optional<LockState> find(const LockName& name) override;
  std::vector<LockState> all(const Unreadable& unreadable) override;
  /// Does nothing: every holder has a name.
  void remove_nameless(const LockName&) override {}
  void prune() override;

 private:
  PostgresLockSession& session_;
};

}  // namespace lockstep
