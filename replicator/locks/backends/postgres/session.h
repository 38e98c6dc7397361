// A lock manager's connection to PostgreSQL: opened at the first request, opened again when it is lost, and
// given up when an answer takes so long that the lease might end meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/locks/backends/postgres/answer_limit.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresLockSession {
 public:
  /// `source.schema` is the schema of the locks. Connects at the first request. No answer may take longer
  /// than `limit`.
  PostgresLockSession(const SourceConfig& source, std::chrono::milliseconds limit);

  /// Runs one statement outside of a transaction, with `{schema}` filled in. Sends it again when the
  /// connection turns out to be lost. REQUIRES: it does no harm twice. Throws Error.
  template <class... Arguments>
  pqxx::result run(const std::string& doing, std::string_view statement, const Arguments&... arguments) {
    pqxx::result result;
    call(doing, limit_,
         [&](PostgresSession& session) { result = session.ask(doing, statement, arguments...); });
    return result;
  }

  /// A text for people, as the database can store it (PostgresSession::storable()).
  std::string storable(std::string_view text);

  /// For each text, whether the database can hold it.
  std::vector<bool> can_hold(const std::string& doing, const std::vector<std::string>& texts);

  /// Runs `step` in the same way, within a limit of its own.
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
