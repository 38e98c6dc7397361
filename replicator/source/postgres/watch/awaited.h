// How those who wait ask the leader to save at once what is acknowledged, instead of with the next batch or
// some 100 ms later: by a notification. It comes from whoever waits, never from a writer, and reaches the
// leader with the answer to whatever it asks next, so that nobody pays for it while nobody waits.
#pragma once

#include <chrono>
#include <pqxx/pqxx>
#include <string>

#include "replicator/clock.h"

namespace lockstep {

/// How long one request holds; who still waits asks again before.
inline constexpr std::chrono::milliseconds kAwaitedFor{3'000};

/// The channel of a pipeline, by its identity.
std::string awaited_channel(const std::string& identity);

/// The leader's side. Listens for as long as it lives; `connection` must outlive it.
class PostgresAwaited final : private pqxx::notification_receiver {
 public:
  PostgresAwaited(pqxx::connection_base& connection, const std::string& identity);

  /// Whether somebody has asked less than kAwaitedFor ago. Sends nothing. REQUIRES: no transaction is open.
  bool is_awaited(SteadyTime now);

 private:
  void operator()(const std::string& payload, int backend_pid) override;

  bool heard_ = false;
  SteadyTime until_{};
};

}  // namespace lockstep
