// The sessions that hold the leader's advisory lock, and whether they are lockstep's: any role that may
// connect to a database can take any advisory lock there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replicator/source/pipeline_status.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// A holder, and which of the leader's numbers it holds.
struct LeadLock {
  std::int64_t key = 0;
  LeadHolder holder;
};

/// `identity` is the pipeline's.
std::vector<LeadLock> lead_locks(PostgresTransaction& transaction, const std::string& identity);

/// Whether one of Lockstep's holds one of them.
bool is_led(const std::vector<LeadLock>& locks);

}  // namespace lockstep
