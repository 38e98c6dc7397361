// Waits until Elasticsearch has what was committed: `lockstep wait` and POST /wait. It follows what the
// leader saves (source/applied_watch.h), so it works beside any process that leads, on whatever machine.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/source/applied_watch.h"

namespace lockstep {

struct WaitRequest {
  std::optional<TransactionId> transaction = {};  ///< none: everything that is committed now
  enum class Refresh { kNo, kYes };
  Refresh refresh = Refresh::kNo;                         ///< it is to be searchable, too
  std::optional<std::chrono::milliseconds> timeout = {};  ///< none: for as long as it takes
};

struct WaitAnswer {
  enum class Kind {
    kApplied,
    kTimedOut,
    kRolledBack,          ///< the transaction was
    kUnknownTransaction,  ///< no transaction has had this number
    kStopped,             ///< on request
  };
  Kind kind = Kind::kApplied;
  std::string reason = {};  ///< why not applied, in words
  std::chrono::milliseconds waited{};
};

/// How long to wait before the next look: a tenth of what was waited until now, from 2 ms to 100 ms.
std::chrono::milliseconds pause_after(std::chrono::steady_clock::duration waited);

/// wait() may be called from several threads at once; each has a connection to the source meanwhile, and a
/// few are kept.
class Waiter {
 public:
  using OpenWatch = std::function<std::unique_ptr<AppliedWatch>()>;
  /// Told now and then why it waits.
  using Progress = std::function<void(const std::string& reason)>;

  /// `aliases` are those to refresh.
  Waiter(OpenWatch open_watch, BulkWriter::TransportFactory make_transport, std::vector<std::string> aliases,
         std::chrono::milliseconds request_timeout);

  /// Servers that are away are waited for. Throws UsageError when the pipeline has not been applied, Error
  /// when it cannot be done, now or later.
  WaitAnswer wait(const WaitRequest& request, const Progress& progress, const std::stop_token& stop);

 private:
  class Course;

  std::unique_ptr<AppliedWatch> take_watch();
  void put_back(std::unique_ptr<AppliedWatch> watch);

  const OpenWatch open_watch_;
  const BulkWriter::TransportFactory make_transport_;
  const std::vector<std::string> aliases_;
  const std::chrono::milliseconds request_timeout_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<AppliedWatch>> idle_;  // guarded by mutex_
};

}  // namespace lockstep
