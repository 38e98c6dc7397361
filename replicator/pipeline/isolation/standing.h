// How each index stands: whether its changes are followed at once. The only place that knows why they are
// not.
//
//             a statement takes too long;              many changes came meanwhile;
//             Elasticsearch takes no writes,           its view or a job cannot be read,
//             or is slow to take them                  or it is not this pipeline's
//   followed ─────────────────────────▶ deferred ─────────────────────────────▶ paused
//    ▲    ▲                                │                                      │
//    │    └────────────────────────────────┘                                      │ nothing stops it
//    │      it takes writes again; the due documents are written                  ▼ any more
//    └───────────────────────────────────────────────────── compared with its view (jobs of the source)
//
// A deferred index's changes become due, so that those of the other indices continue; a paused one's are not
// followed, which the source keeps. An index that comes back and fails again at once waits twice as long the
// next time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/pipeline/isolation/held_indices.h"
#include "replicator/pipeline/isolation/reading_limit.h"
#include "replicator/source/change_log.h"

namespace lockstep {

/// For one thread, the pipeline's.
class Standing {
 public:
  enum class Kind { kFollowed, kDeferred, kPaused };

  /// Its collaborators. All of them must outlive this.
  struct World {
    std::unique_ptr<HttpTransport> transport;  ///< to ask whether indices take writes again
    std::function<void()> on_released;         ///< called from another thread when one does
    std::function<bool(IndexId)> is_slow_to_write;
    /// Whether a document of an index may have been due at that time already.
    std::function<bool(IndexId, SteadyTime)> is_due_since;
  };

  struct Patience {
    Backoff::Limits ask_again = HeldIndices::kAskAgain;
    /// Chunks with changes of an index that is slow to write, between two answers. So many come if it hardly
    /// answers any more: then a comparison is less work than the due documents.
    int most_behind_slow_write = 5'000;
  };

  static constexpr std::chrono::seconds kFirstPauseOfReading{5};
  static constexpr std::chrono::seconds kLongestPauseOfReading{60};

  /// Begins with the indices that are paused in `pipeline`. The references must outlive this.
  Standing(const AppliedPipeline& pipeline, ChangeLog& changes, Epoch epoch, World world, Patience patience);

  Kind of(IndexId index) const;

  /// Why the index is not followed at once; empty: it is.
  std::string reason(IndexId index) const;

  bool is_paused(IndexId index) const { return paused_.contains(index); }

  /// Whether Elasticsearch takes writes into the index, as far as is known.
  bool takes_writes(IndexId index) const { return !held_.contains(index); }

  /// "posts: rendering documents: …" of those that are paused, or that take no writes; empty: there are none.
  std::string paused_text() const;
  std::string held_text() const { return held_.text(); }

  // --- reasons to defer an index ---

  /// Elasticsearch did not take a write of this document.
  void hold(const DocumentKey& document, const std::string& reason) { held_.hold(document, reason); }

  /// The tail's reading of it takes too long.
  void note_too_slow(const ViewTooSlow& why, SteadyTime now);

  /// Another chunk has changes of the index. Why it should be paused now, for there were so many; none: they
  /// become due. REQUIRES: it is deferred.
  std::optional<std::string> defer_chunk(IndexId index);

  /// A chunk has changes of the index, which is followed.
  void follow_chunk(IndexId index) { chunks_.erase(index); }

  /// Looks which may be read again.
  void release(SteadyTime now);

  // --- reasons to pause it ---

  /// Pauses the index. REQUIRES: no transaction is open.
  void pause(IndexId index, const std::string& reason);

  /// The same for as long as this leadership lasts: it is unfit (leadership.h). Corrects the reason.
  void keep_paused(IndexId index, const std::string& reason);

  /// Call it when a transaction has been committed that sets the index aside in the source.
  void note_paused(IndexId index, const std::string& reason);

  /// Takes back the paused indices that are not kept, take writes, and whose views and jobs can be read
  /// again, and returns its additions: the jobs that compare them. Corrects the reason of those with another
  /// obstacle now. REQUIRES: no transaction is open.
  Committed take_back_readable(SteadyTime now);

 private:
  /// Of one index: since when it is not followed at once, and how often it came back in vain.
  struct Absence {
    std::string reason = {};
    SteadyTime since{};
    SteadyTime returned_at{};
    int failures = 0;

    void begin(const std::string& why, SteadyTime now, std::chrono::seconds in_vain_within);
  };

  /// The obstacle to a paused index. None: there is none.
  std::optional<std::string> obstacle(const AppliedIndex& index, const UnfinishedJobs& jobs);
  void restate(const AppliedIndex& index, const std::string& reason);
  const std::string& alias(IndexId index) const { return pipeline_.find(index)->alias; }

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  const Epoch epoch_;
  const std::function<bool(IndexId)> is_slow_to_write_;
  const std::function<bool(IndexId, SteadyTime)> is_due_since_;
  const int most_behind_slow_write_;
  HeldIndices held_;
  std::set<IndexId> slow_to_read_;  // each has an absence
  std::set<IndexId> paused_;        // likewise
  std::set<IndexId> kept_;          // of those that are paused
  std::map<IndexId, Absence> readings_;
  std::map<IndexId, Absence> pauses_;
  std::map<IndexId, int> chunks_;  // with changes of an index since it is deferred
};

}  // namespace lockstep
