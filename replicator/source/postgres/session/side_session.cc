#include "replicator/source/postgres/session/side_session.h"

#include "replicator/error.h"

namespace lockstep {

PostgresSession& PostgresSideSession::session() {
  bool is_connected = false;
  {
    const MutexLock lock(mutex_);
    is_connected = session_ != nullptr && session_->is_open();
  }
  std::unique_ptr<PostgresSession> made;
  if (!is_connected) made = std::make_unique<PostgresSession>(source_, purpose_);
  const MutexLock lock(mutex_);
  if (made) session_ = std::move(made);
  if (is_cancelled_) throw Error({"reading alongside the leader's connection", "it was cancelled"});
  return *session_;
}

void PostgresSideSession::cancel() {
  const MutexLock lock(mutex_);
  is_cancelled_ = true;
  if (session_) session_->cancel();
}

void PostgresSideSession::cancel_statement() {
  const MutexLock lock(mutex_);
  if (session_) session_->cancel();
}

}  // namespace lockstep
