// Makes applied documents searchable, for replication.refresh = "after_batch". One request at a time:
// additions during a request share the next one. So many small batches cost no more refreshes than
// Elasticsearch can do one after the other.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/backoff.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/applied.h"
#include "replicator/thread.h"

namespace lockstep {

/// Has a thread of its own. It tries a failed refresh again after a growing pause. A refresh that can never
/// work (the alias is gone) is logged and counts as done: the documents are applied all the same.
class Refresher {
 public:
  /// Calls `on_finished` from its thread when take_finished() has a result. `pipeline` must outlive this.
  Refresher(const AppliedPipeline& pipeline, std::unique_ptr<HttpTransport> transport,
            std::chrono::milliseconds request_timeout, std::function<void()> on_finished);
  /// Cuts off a request that is on its way.
  ~Refresher();
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;

  /// Everything of `step` is applied, to these indices.
  void add(StepId step, const std::set<IndexId>& indices);

  /// Takes the steps that became searchable since the last call.
  std::vector<StepId> take_finished();

 private:
  void run(const std::stop_token& stop);
  bool refresh(const std::set<IndexId>& indices);

  const std::function<void()> on_finished_;
  std::map<IndexId, std::string> aliases_;
  ElasticsearchClient elasticsearch_;
  Backoff backoff_;
  std::string last_logged_;  // of the thread
  WakeUp wake_up_;
  Mutex mutex_;
  std::vector<StepId> steps_ LOCKSTEP_GUARDED_BY(mutex_);  // for the next request
  std::set<IndexId> indices_ LOCKSTEP_GUARDED_BY(mutex_);  // likewise
  std::vector<StepId> finished_ LOCKSTEP_GUARDED_BY(mutex_);
  Thread thread_;  // uses all of the above
};

}  // namespace lockstep
