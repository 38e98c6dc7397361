// Waits until Elasticsearch has everything that was committed: `lockstep wait` and POST /wait. It follows the
// leader's saves (source/applied_watch.h), so it works with any leader, on any machine.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/mutex.h"
#include "replicator/source/applied_watch.h"

namespace lockstep {

struct WaitRequest {
  std::optional<TransactionId> transaction = {};  ///< none: everything that is committed now
  enum class Refresh { kNo, kYes };
  Refresh refresh = Refresh::kNo;                         ///< whether it has to be searchable too
  std::optional<std::chrono::milliseconds> timeout = {};  ///< none: waits as long as it takes
};

struct WaitAnswer {
  enum class Kind {
    kApplied,
    kTimedOut,
    kRolledBack,          ///< the transaction was rolled back
    kUnknownTransaction,  ///< no transaction has had this number
    kStopped,             ///< on request
  };
  Kind kind = Kind::kApplied;
  std::string reason = {};  ///< why not applied, in words
  std::chrono::milliseconds waited{};
};

/// How long to pause before the next look: a tenth of the time waited so far, from 2 ms to 100 ms.
std::chrono::milliseconds pause_after(std::chrono::steady_clock::duration waited);

/// Several threads may call wait() at once. Each has a connection to the source meanwhile; a few are kept.
class Waiter {
 public:
  using OpenWatch = std::function<std::unique_ptr<AppliedWatch>()>;
  /// Called now and then with why it waits.
  using Progress = std::function<void(const std::string& reason)>;

  /// How an unfinished wait describes the leader.
  struct Words {
    std::function<std::string()>
        no_leader_reason;  ///< with the remedy; asked about once a second while there is no leader
    std::function<std::string()> leader_waits;  ///< the leader's own wait; empty: none; asked at the end
  };

  /// A wait with a refresh refreshes the aliases. It is not over while one of them points to an index without
  /// the mark of the pipeline.
  struct Searched {
    std::string pipeline;
    std::vector<std::string> aliases;
  };

  Waiter(OpenWatch open_watch, BulkWriter::TransportFactory make_transport, Searched searched,
         std::chrono::milliseconds request_timeout, Words words);

  /// Waits for servers that are away, too. Throws UsageError if the pipeline has not been applied, Error if a
  /// retry makes no sense.
  WaitAnswer wait(const WaitRequest& request, const Progress& progress, const std::stop_token& stop);

 private:
  class Course;

  std::unique_ptr<AppliedWatch> take_watch();
  void put_back(std::unique_ptr<AppliedWatch> watch);

  const OpenWatch open_watch_;
  const BulkWriter::TransportFactory make_transport_;
  const Searched searched_;
  const std::chrono::milliseconds request_timeout_;
  const Words words_;
  Mutex mutex_;
  std::vector<std::unique_ptr<AppliedWatch>> idle_ LOCKSTEP_GUARDED_BY(mutex_);
};

}  // namespace lockstep
