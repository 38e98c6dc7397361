#include "replicator/source/postgres/read/lead_holders.h"

#include <algorithm>

#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

std::vector<LeadLock> lead_locks(PostgresTransaction& transaction, const std::string& identity) {
  std::vector<LeadLock> locks;
  for (const pqxx::row& row : transaction.run(postgres_sql("lead_holders"), identity)) {
    locks.push_back({row[0].as<std::int64_t>(),
                     {row[1].as<int>(), row[2].c_str(), row[3].c_str(), row[4].c_str(), row[5].as<bool>()}});
  }
  return locks;
}

bool is_led(const std::vector<LeadLock>& locks) {
  return std::any_of(locks.begin(), locks.end(),
                     [](const LeadLock& lock) { return lock.holder.is_lockstep; });
}

}  // namespace lockstep
