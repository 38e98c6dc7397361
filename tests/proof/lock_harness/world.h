// The setting of a run: which locks on which servers, what the clients change under them, and which safeguard
// is missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep::harness {

/// The missing safeguard. Without it the checker must find a violation.
enum class Without {
  kNothing,
  kFencing,   ///< clients take expired locks without rolling forward, and nothing checks tokens
  kRecovery,  ///< nobody clears up after the dead, as in the book
  kLocks,     ///< nobody takes a lock; only for the tree
};

enum class Work {
  kRegisters,  ///< values in a table, with a log of all writes
  kTree,       ///< the documents of `lockstep tree`
  kDocuments,  ///< documents that others change under our locks: the Python package, and children of the
               ///< program
};

struct World {
  Work work = Work::kRegisters;
  Without without = Without::kNothing;
  LocksConfig::Backend backend = LocksConfig::Backend::kPostgresql;
  TreeConfig::Locking locking = TreeConfig::Locking::kTree;
  std::string database = {};           ///< URL of the registers, and of the locks in PostgreSQL
  std::vector<std::string> urls = {};  ///< of Elasticsearch
  std::string alias = {};              ///< the beginning of the indices' names
  std::chrono::milliseconds lease{};   ///< how long a client's locks last
};

/// The shortest lease with which clients do such work on so many nodes of Elasticsearch.
std::chrono::milliseconds usual_lease(Work work, std::size_t nodes);

Config config_of(const World& world);

/// The locks of the world, prepared.
std::unique_ptr<LockManager> open_locks_of(const World& world);

/// The same with time for a busy server, to prepare the world and to check it.
std::unique_ptr<LockManager> open_patient_locks_of(const World& world);

/// What the checker found.
struct Findings {
  std::int64_t opened = 0;
  std::int64_t done = 0;
  std::int64_t aborted = 0;
  std::int64_t adopted = 0;  ///< done by an adopter
  std::vector<std::string> violations;
};

}  // namespace lockstep::harness
