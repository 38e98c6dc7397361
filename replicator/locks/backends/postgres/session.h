// The connection of a lock manager to PostgreSQL: made when it is first needed, made anew when it is lost,
// and given up when an answer takes so long that the lease which it should renew might end meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "replicator/clock.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

/// Shuts a socket down when something takes too long on it, since libpq waits for an answer without end.
class AnswerLimit {
 public:
  explicit AnswerLimit(int socket);
  ~AnswerLimit();
  AnswerLimit(const AnswerLimit&) = delete;
  AnswerLimit& operator=(const AnswerLimit&) = delete;

  void begin(std::chrono::milliseconds limit);
  /// Whether the limit has passed, and the connection with it.
  bool end();

 private:
  void watch(const std::stop_token& stop);

  const int socket_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  // guarded by mutex_
  std::optional<SteadyTime> end_;
  bool passed_ = false;

  std::jthread thread_;  // last: everything else exists while it runs
};

class PostgresLockSession {
 public:
  /// `source.schema` is the schema of the locks. Connects when it is first asked; `limit` bounds each answer.
  PostgresLockSession(const SourceConfig& source, std::chrono::milliseconds limit);

  /// The result of one statement by itself, with `{schema}` replaced. It is sent again when the connection
  /// turns out to be lost, so it must be one that does no harm twice. Throws Error.
  template <class... Arguments>
  pqxx::result run(const std::string& doing, std::string_view statement, const Arguments&... arguments) {
    pqxx::result result;
    call(doing, limit_,
         [&](PostgresSession& session) { result = session.ask(doing, statement, arguments...); });
    return result;
  }

  /// The same for whatever `step` does.
  void call(const std::string& doing, std::chrono::milliseconds limit,
            const std::function<void(PostgresSession&)>& step);

 private:
  void connect();
  void disconnect();

  SourceConfig source_;
  const std::chrono::milliseconds limit_;
  std::unique_ptr<PostgresSession> session_;
  std::unique_ptr<AnswerLimit> answer_;
};

}  // namespace lockstep
