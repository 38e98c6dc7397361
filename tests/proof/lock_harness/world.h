// Where the harness plays: which locks, on which servers, what is changed under them, and which safeguard is
// left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep::harness {

/// Which safeguard is left out, so that the checker must find something.
enum class Without {
  kNothing,
  kFencing,   ///< expired locks are taken without the rest of the work being done, and nobody is fenced off
  kRecovery,  ///< nobody clears up after the dead, as in the book
  kLocks,     ///< nobody takes a lock; of the tree only
};

enum class Work {
  kRegisters,  ///< values in a table, each write of which is logged
  kTree,       ///< the documents of `lockstep tree`
};

struct World {
  Work work = Work::kRegisters;
  Without without = Without::kNothing;
  LocksConfig::Backend backend = LocksConfig::Backend::kPostgresql;
  TreeConfig::Locking locking = TreeConfig::Locking::kTree;
  std::string database = {};           ///< URL of the registers, and of the locks in PostgreSQL
  std::vector<std::string> urls = {};  ///< of Elasticsearch
  std::string alias = {};              ///< what the names of the indices begin with
};

Config config_of(const World& world);

/// The locks of the world, prepared.
std::unique_ptr<LockManager> open_locks_of(const World& world);

/// The same for who prepares the world and who looks at it afterwards: with time for a busy server.
std::unique_ptr<LockManager> open_patient_locks_of(const World& world);

/// What the checker has seen.
struct Findings {
  std::int64_t opened = 0;
  std::int64_t done = 0;
  std::int64_t aborted = 0;
  std::int64_t adopted = 0;  ///< finished by another one than who began it
  std::vector<std::string> violations;
};

}  // namespace lockstep::harness
