#include "replicator/source/postgres/watch/awaited.h"

#include <utility>

namespace lockstep {

std::string awaited_channel(const std::string& identity) {
  return "lockstep awaited " + identity;
}

PostgresAwaited::PostgresAwaited(pqxx::connection_base& connection, const std::string& identity)
    : pqxx::notification_receiver(connection, awaited_channel(identity)) {}

bool PostgresAwaited::is_awaited(SteadyTime now) {
  conn().get_notifs();
  if (std::exchange(heard_, false)) until_ = now + kAwaitedFor;
  return now < until_;
}

void PostgresAwaited::operator()(const std::string&, int) {
  heard_ = true;
}

}  // namespace lockstep
