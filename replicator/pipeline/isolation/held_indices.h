// Indices that Elasticsearch takes no writes into now, whichever document they are of: blocked, closed,
// without a shard, an alias that names none or two. Their changes are kept in the source as jobs, so that
// those of the other indices continue. Asks again and again whether they take writes
// (elasticsearch/bulk/write_probe.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/write_probe.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/applied.h"
#include "replicator/thread.h"

namespace lockstep {

/// Has a thread of its own, which asks. Everything else is for one thread, the pipeline's.
class HeldIndices {
 public:
  static constexpr Backoff::Limits kAskAgain{std::chrono::milliseconds(100),
                                             std::chrono::milliseconds(2'000)};

  /// Calls `on_released` from its thread when an index takes writes again. `pipeline` must outlive this.
  HeldIndices(const AppliedPipeline& pipeline, std::unique_ptr<HttpTransport> transport,
              std::function<void()> on_released, Backoff::Limits ask_again = kAskAgain);
  /// Cuts off a question that is on its way.
  ~HeldIndices();
  HeldIndices(const HeldIndices&) = delete;
  HeldIndices& operator=(const HeldIndices&) = delete;

  /// The index did not take a write of `document`, for `reason`. It is asked for the same document.
  void hold(const DocumentKey& document, const std::string& reason);

  bool contains(IndexId index) const;
  bool empty() const;

  /// Why nothing is written into the index; empty if it takes writes.
  std::string reason(IndexId index) const;

  /// "posts: HTTP 403 cluster_block_exception: …"; empty if all take writes.
  std::string text() const;

 private:
  struct Held {
    DocumentKey document;
    std::string reason;
    Backoff backoff;
    SteadyTime since;
    SteadyTime ask_at;
  };

  void run(const std::stop_token& stop);
  /// Returns for how long no index has to be asked.
  std::chrono::milliseconds ask_those_due();
  void take_answer(IndexId index, const WriteProbe& probe);

  const AppliedPipeline& pipeline_;
  const std::unique_ptr<HttpTransport> transport_;
  const std::function<void()> on_released_;
  const Backoff::Limits ask_again_;
  WakeUp wake_up_;
  mutable Mutex mutex_;
  std::map<IndexId, Held> held_ LOCKSTEP_GUARDED_BY(mutex_);
  std::map<IndexId, int> times_held_ LOCKSTEP_GUARDED_BY(mutex_);
  Thread thread_;  // uses all of the above
};

}  // namespace lockstep
