#include "tests/proof/lock_harness/world.h"

#include "replicator/locks/open_locks.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLease{1'000};
// The program and its child, a Python, have to start within it.
constexpr milliseconds kLeaseOfDocuments{3'000};
// A cluster that has just lost a node answers after some seconds.
constexpr milliseconds kLeaseInCluster{6'000};

constexpr std::chrono::seconds kPatientLease{90};

std::unique_ptr<LockManager> open_prepared(const Config& config) {
  std::unique_ptr<LockManager> locks = open_locks(config);
  locks->prepare();
  return locks;
}

}  // namespace

milliseconds usual_lease(Work work, std::size_t nodes) {
  if (nodes > 1) return kLeaseInCluster;
  return work == Work::kDocuments ? kLeaseOfDocuments : kLease;
}

Config config_of(const World& world) {
  Config config;
  config.source.url = world.database;
  config.elasticsearch.urls = world.urls;
  config.locks.backend = world.backend;
  config.locks.lease = world.lease;
  config.locks.index = world.alias + "-locks";
  config.tree.index = world.alias + "-fs";
  config.tree.locking = world.locking;
  return config;
}

std::unique_ptr<LockManager> open_locks_of(const World& world) {
  return open_prepared(config_of(world));
}

std::unique_ptr<LockManager> open_patient_locks_of(const World& world) {
  Config config = config_of(world);
  config.locks.lease = kPatientLease;
  return open_prepared(config);
}

}  // namespace lockstep::harness
