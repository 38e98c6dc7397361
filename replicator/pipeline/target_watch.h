// Looks now and then whether the indices are still those that the leader began with, and notes in them how
// far the source has come, so that the next leader can tell when one side has gone back (leadership.h).
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/client.h"
#include "replicator/elasticsearch/index_plan.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/source.h"

namespace lockstep {

/// A thread of its own, so that an Elasticsearch that hangs holds nothing up. What does not answer is asked
/// again later.
class TargetWatch {
 public:
  /// `pipeline` must outlive this; `targets` are the uuids of the real indices, by index.
  TargetWatch(const AppliedPipeline& pipeline, Epoch epoch, std::map<int, std::string> targets,
              std::unique_ptr<HttpTransport> transport, std::chrono::milliseconds request_timeout,
              std::chrono::milliseconds interval);
  /// Cuts a request off that is on its way.
  ~TargetWatch();
  TargetWatch(const TargetWatch&) = delete;
  TargetWatch& operator=(const TargetWatch&) = delete;

  /// Has it noted in the indices at the next look.
  void note(const SourceMark& source);

  /// Throws a retryable Error when an index is another one than at the beginning, Deposed when a later epoch
  /// writes there: the lead has to be taken anew.
  void require_same_targets();

 private:
  void run(const std::stop_token& stop);
  void look();

  const AppliedPipeline& pipeline_;
  const Epoch epoch_;
  const std::map<int, std::string> targets_;
  const std::chrono::milliseconds interval_;
  ElasticsearchClient elasticsearch_;
  WakeUp never_woken_;
  std::mutex mutex_;
  std::optional<SourceMark> to_note_;  // guarded by mutex_
  std::string replaced_;               // likewise: the alias whose index is another one
  bool deposed_ = false;               // likewise
  std::jthread thread_;                // uses all of the above
};

}  // namespace lockstep
