#include "replicator/locks/backends/postgres/session.h"

#include <algorithm>

#include "replicator/error.h"
#include "replicator/source/postgres/session/encoding.h"

namespace lockstep {
namespace {

/// Adds a parameter to the url, unless it has that one.
void add_parameter(std::string& url, const std::string& name, long long value) {
  if (url.find(name + "=") != std::string::npos) return;
  url += url.find('?') == std::string::npos ? '?' : '&';
  url += name + "=" + std::to_string(value);
}

}  // namespace

PostgresLockSession::PostgresLockSession(const SourceConfig& source, std::chrono::milliseconds limit)
    : source_(source), limit_(limit) {
  constexpr long long kLeastSeconds = 2;  // libpq takes no less
  add_parameter(source_.url, "connect_timeout", std::max<long long>(kLeastSeconds, limit.count() / 1'000));
  add_parameter(source_.url, "tcp_user_timeout", limit.count());
}

void PostgresLockSession::connect() {
  session_ = std::make_unique<PostgresSession>(source_, "locks");
  answer_ = std::make_unique<AnswerLimit>(session_->connection().sock());
}

void PostgresLockSession::disconnect() {
  answer_.reset();
  session_.reset();
}

std::string PostgresLockSession::storable(std::string_view text) {
  std::string stored;
  call("connecting to the database of locks", limit_,
       [&](PostgresSession& session) { stored = session.storable(text); });
  return stored;
}

std::vector<bool> PostgresLockSession::can_hold(const std::string& doing,
                                                const std::vector<std::string>& texts) {
  std::vector<bool> held;
  call(doing, limit_, [&](PostgresSession& session) {
    PostgresTransaction transaction(session, doing, Isolation::kReadCommitted);
    held = can_be_held(transaction, texts);
  });
  return held;
}

void PostgresLockSession::call(const std::string& doing, std::chrono::milliseconds limit,
                               const std::function<void(PostgresSession&)>& step) {
  const bool is_new = session_ == nullptr;
  if (is_new) connect();
  answer_->begin(limit);
  try {
    translating_postgres_errors(doing, [&] { step(*session_); });
    if (answer_->end()) disconnect();
    return;
  } catch (const Error&) {
    const bool late = answer_->end();
    const bool lost = late || !session_->connection().is_open();
    if (lost) disconnect();
    if (late) {
      throw Error({doing, "PostgreSQL has not answered within " + std::to_string(limit.count()) + " ms", "",
                   Retry::kLater, Server::kSource});
    }
    if (!lost || is_new) throw;
  } catch (...) {
    answer_->end();
    throw;
  }
  call(doing, limit, step);  // the connection was lost between requests
}

}  // namespace lockstep
