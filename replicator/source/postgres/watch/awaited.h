// How `wait` asks the leader to save acknowledged work at once, instead of with the next batch or some 100 ms
// later: by a notification. The waiting client sends it, never a writer, and it reaches the leader with the
// answer to the leader's next statement. So it costs nothing while no client waits.
#pragma once

#include <chrono>
#include <pqxx/pqxx>
#include <string>

#include "replicator/clock.h"

namespace lockstep {

/// How long one request lasts. A client that still waits asks again before that.
inline constexpr std::chrono::milliseconds kAwaitedFor{3'000};

/// The channel on which a pipeline's leader listens.
std::string awaited_channel(const std::string& identity);

/// The leader's side. Listens as long as it lives. REQUIRES: `connection` outlives it.
class PostgresAwaited final : private pqxx::notification_receiver {
 public:
  PostgresAwaited(pqxx::connection_base& connection, const std::string& identity);

  /// Whether a client has asked less than kAwaitedFor ago. Sends nothing. REQUIRES: no transaction is open.
  bool is_awaited(SteadyTime now);

 private:
  void operator()(const std::string& payload, int backend_pid) override;

  bool heard_ = false;
  SteadyTime until_{};
};

}  // namespace lockstep
