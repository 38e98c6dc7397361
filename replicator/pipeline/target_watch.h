// Looks now and then whether the indices are still the ones that the leader began with and carry its epoch.
// Notes in them how far the source has come, so that the next leader notices if one side has gone back
// (leadership.h).
//
// A process that was stopped with a request in its hand, for longer than Elasticsearch remembers a deletion
// (index.gc_deletes, a minute), would bring a deleted document back: no version is left to compare with. So
// nothing is sent when the last look is too old.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/applied.h"
#include "replicator/thread.h"

namespace lockstep {

/// Has a thread of its own, so that an Elasticsearch that hangs delays nothing. An index that does not answer
/// is asked again later.
class TargetWatch {
 public:
  /// `targets` are the uuids of the real indices, or kUnknownTarget for those that were unfit
  /// (leadership.h): nothing is written into them until they are fit. `pipeline` must outlive this.
  TargetWatch(const AppliedPipeline& pipeline, Epoch epoch, std::map<IndexId, std::string> targets,
              std::unique_ptr<HttpTransport> transport, std::chrono::milliseconds request_timeout,
              std::chrono::milliseconds interval);
  /// Cuts off a request that is on its way.
  ~TargetWatch();
  TargetWatch(const TargetWatch&) = delete;
  TargetWatch& operator=(const TargetWatch&) = delete;

  /// The next look notes `source` in the indices.
  void note(const SourceMark& source);

  /// Notes it now, and waits for that, for `at_most`.
  void note_now(const SourceMark& source, std::chrono::milliseconds at_most);

  /// Whether a look less than half a minute ago found no other leader. False: the thread looks at once. From
  /// any thread.
  bool is_recent();

  /// Throws a retryable Error if another index is behind an alias than at the beginning, none, or several,
  /// and if the one there is not this pipeline's any more; PipelineChanged if an unfit index has become fit;
  /// Deposed if a later epoch writes there. The process must become leader again.
  void require_same_targets();

  /// The indices that were fit at the beginning, and whose aliases now point to nothing, or to an index that
  /// is not this pipeline's.
  std::set<IndexId> lost();

  /// Why indices are unfit, of those that were unfit at the beginning: by the last look.
  std::map<IndexId, std::string> unfit();

  /// SourceMark::place of the later leader that has deposed this one; none: there is none.
  std::optional<std::string> place_of_later_leader();

 private:
  void run(const std::stop_token& stop);
  void look();
  void note_later(const std::optional<SourceMark>& source);
  bool look_at(const AppliedIndex& index, const std::optional<SourceMark>& newest);
  bool look_at_unfit(const AppliedIndex& index, const SourceMark& newest);
  std::optional<MarkedIndex> read(const AppliedIndex& index);
  bool is_later(const MarkedIndex& marked);
  bool note_in(const AppliedIndex& index, const SourceMark& source);
  bool was_fit(IndexId index) const;

  const AppliedPipeline& pipeline_;
  const Epoch epoch_;
  const std::map<IndexId, std::string> targets_;
  const std::chrono::milliseconds interval_;
  ElasticsearchClient elasticsearch_;
  WakeUp wake_up_;
  Mutex mutex_;
  Condition noted_;
  std::optional<SourceMark> to_note_ LOCKSTEP_GUARDED_BY(mutex_);
  std::optional<SourceMark> newest_ LOCKSTEP_GUARDED_BY(mutex_);  // the last that was to be noted
  bool is_noted_ LOCKSTEP_GUARDED_BY(mutex_) = true;              // nothing is left to note
  /// The index that differs from the one at the beginning, and how.
  std::string replaced_ LOCKSTEP_GUARDED_BY(mutex_);
  std::string correct_again_ LOCKSTEP_GUARDED_BY(mutex_);            // an index that was unfit
  std::optional<std::string> later_ LOCKSTEP_GUARDED_BY(mutex_);     // the place of a later leader's source
  std::map<IndexId, std::string> lost_ LOCKSTEP_GUARDED_BY(mutex_);  // why
  std::map<IndexId, std::string> unfit_ LOCKSTEP_GUARDED_BY(mutex_);
  SteadyTime looked_at_ LOCKSTEP_GUARDED_BY(mutex_);  // the begin of the last look that found nothing wrong
  Thread thread_;                                     // uses all of the above
};

}  // namespace lockstep
