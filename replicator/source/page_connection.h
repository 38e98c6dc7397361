// A second connection of the leader, on which pages of jobs are read alongside its own transactions.
#pragma once

#include <memory>

#include "replicator/document_version.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// For one thread at a time, apart from cancel().
class PageConnection {
 public:
  virtual ~PageConnection() = default;

  /// Opens a transaction of the leader of `epoch`, which only reads, and no index with a routing. Its
  /// snapshot and those of ChangeLog::begin() do not go back in the order in which they were taken (S3). Its
  /// snapshot is durable once may_be_shown() is true, or after the next commit() of the leader's own
  /// transactions (S4, S5). Connects when it is called first. At most one is open at a time. Throws Error.
  virtual std::unique_ptr<SourceTransaction> begin(Epoch epoch) = 0;

  /// Lets the present and later readings here fail with an Error. From any thread.
  virtual void cancel() = 0;
};

}  // namespace lockstep
