// Finds versions that other programs have given to documents of ours (an _update, an _update_by_query, a
// write with a version of its own), so that our next writes get greater ones.
//
// Elasticsearch keeps such a version as it keeps ours, and refuses older ones: unless it is noticed, a
// document would stay as the other writer left it, for good. The documents themselves become due again (W4):
// they are written as the view then gives them, which may take several tries until the versions are above.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/stored_versions.h"
#include "replicator/mutex.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/recent_writes.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/applied.h"
#include "replicator/source/snapshot.h"
#include "replicator/thread.h"

namespace lockstep {

/// A version that another program has given to a document of this index.
struct ForeignVersion {
  DocumentVersion version;
  IndexId index;
  auto operator<=>(const ForeignVersion&) const = default;
};

/// Has a thread of its own, so that an Elasticsearch that hangs delays nothing.
class ForeignWrites {
 public:
  /// Versions above this are not overtaken: half of all epochs stay for leaderships. A document with such a
  /// version is removed, and written again once Elasticsearch has forgotten the removal (index.gc_deletes).
  static constexpr DocumentVersion kMostOvertaken{Epoch{DocumentVersion::kMaxEpoch / 2}, 0};

  /// Between two lines of the log about one index.
  static constexpr std::chrono::hours kInterval{1};

  /// `on_found` is called, from the thread, when take_greatest() has a version. The references must outlive
  /// this.
  ForeignWrites(const AppliedPipeline& pipeline, Epoch epoch, ProgressBoard& board,
                std::unique_ptr<HttpTransport> transport, std::chrono::milliseconds request_timeout,
                std::function<void()> on_found);
  /// Cuts off a request that is on its way.
  ~ForeignWrites();
  ForeignWrites(const ForeignWrites&) = delete;
  ForeignWrites& operator=(const ForeignWrites&) = delete;

  /// A write of this document has met a greater version, which is not known to be ours.
  void note(IndexId index, const FoundDocument& document, RecentWrites::Owner owner);

  /// Takes the greatest version found since the last call, up to kMostOvertaken. One of a later epoch may be
  /// a later leader's, which only the caller can tell: it is not reported here.
  std::optional<ForeignVersion> take_greatest();

  /// Counts documents that another writer has written, and logs it once per index and hour.
  void report(IndexId index, std::int64_t foreign);

 private:
  void run(const std::stop_token& stop);
  using Noted = std::map<FoundDocument, RecentWrites::Owner>;

  void look();
  void look_at(const AppliedIndex& index, const Noted& noted);
  /// False: it may be a later leader's.
  bool remove_beyond_reach(const AppliedIndex& index, const DocumentLocation& document,
                           const StoredVersion& stored);

  const AppliedPipeline& pipeline_;
  const Epoch epoch_;
  ProgressBoard& board_;
  const std::function<void()> on_found_;
  ElasticsearchClient elasticsearch_;
  WakeUp wake_up_;
  Mutex mutex_;
  std::map<IndexId, Noted> to_look_at_ LOCKSTEP_GUARDED_BY(mutex_);
  std::optional<ForeignVersion> greatest_ LOCKSTEP_GUARDED_BY(mutex_);
  std::map<IndexId, SteadyTime> warned_at_ LOCKSTEP_GUARDED_BY(mutex_);
  Thread thread_;  // uses all of the above
};

}  // namespace lockstep
