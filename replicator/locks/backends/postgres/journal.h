// The journal of operations as a table. The version of an entry is the number of its changes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/locks/backends/postgres/session.h"
#include "replicator/locks/journal.h"

namespace lockstep {

class PostgresJournal final : public Journal {
 public:
  /// `session` must outlive this.
  PostgresJournal(PostgresLockSession& session, std::chrono::milliseconds lease)
      : session_(session), lease_(lease) {}

  void open(Operation& operation) override;
  FencingToken draw(FencingToken above) override;
  Resolution seize(const Operation& found, const std::string& by, Adoption adoption) override;
  bool abort(const Operation& found, const std::string& by, const std::string& reason) override;
  std::optional<Operation> find(const std::string& id) override;
  std::vector<Operation> unresolved(const Unreadable& unreadable) override;
  void erase(const Operation& operation) override;
  void prune(std::chrono::milliseconds age) override;

 private:
  std::optional<Operation> write(const Operation& changed, JournalVersion expected) override;

  PostgresLockSession& session_;
  const std::chrono::milliseconds lease_;
};

}  // namespace lockstep
