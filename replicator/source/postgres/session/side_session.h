// A session for a thread that works next to the leader's, and that the leader's thread can cancel.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "replicator/mutex.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresSideSession {
 public:
  /// `purpose` as of PostgresSession.
  PostgresSideSession(SourceConfig source, std::string purpose)
      : source_(std::move(source)), purpose_(std::move(purpose)) {}

  /// The session, for the one thread that works with it; connects when there is none, or it has ended. Call
  /// it before each transaction. Throws Error, also after cancel().
  PostgresSession& session();

  /// Cancels the statement that runs, and lets session() throw from now on. A statement may begin just after
  /// it, so call it until the thread has ended.
  void cancel();

  /// Cancels the statement that runs, if one does, from any thread; session() continues as before.
  void cancel_statement();

 private:
  const SourceConfig source_;
  const std::string purpose_;
  Mutex mutex_;
  /// The thread works with the session itself without the lock: only cancel() is for others.
  std::unique_ptr<PostgresSession> session_ LOCKSTEP_GUARDED_BY(mutex_);
  bool is_cancelled_ LOCKSTEP_GUARDED_BY(mutex_) = false;
};

}  // namespace lockstep
