// Makes searchable what has been applied, for replication.refresh = "after_batch". One request at a time;
// what is asked for meanwhile goes into the next one together, so that many small batches cost no more
// refreshes than Elasticsearch gets done one after the other.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "replicator/backoff.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/source.h"

namespace lockstep {

/// A thread of its own. A refresh that fails is tried again with a growing pause; one that cannot work (the
/// alias is gone) is logged and counts as done, since the documents are applied all the same.
class Refresher {
 public:
  /// `pipeline` must outlive this. `on_finished` is called from its thread when take_finished() has
  /// something.
  Refresher(const AppliedPipeline& pipeline, std::unique_ptr<HttpTransport> transport,
            std::chrono::milliseconds request_timeout, std::function<void()> on_finished);
  /// Cuts a request off that is on its way.
  ~Refresher();
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;

  /// Everything of `step` has been applied, to these indices.
  void add(StepId step, const std::set<int>& indices);

  /// The steps that are searchable by now, since the last call.
  std::vector<StepId> take_finished();

 private:
  void run(const std::stop_token& stop);
  bool refresh(const std::set<int>& indices);

  const std::function<void()> on_finished_;
  std::map<int, std::string> aliases_;  // by index
  ElasticsearchClient elasticsearch_;
  Backoff backoff_;
  std::string last_logged_;  // of the thread
  WakeUp wake_up_;
  std::mutex mutex_;
  std::vector<StepId> steps_;     // guarded by mutex_: for the next request
  std::set<int> indices_;         // likewise
  std::vector<StepId> finished_;  // likewise
  std::jthread thread_;           // uses all of the above
};

}  // namespace lockstep
