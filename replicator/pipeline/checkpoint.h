// Moves the checkpoint, and makes sure that a transaction's reads are durable before Elasticsearch is shown
// them (S4): by a commit, which also saves the acknowledgements until then, or without a commit if the source
// needs none.
//
// K1. The checkpoint does not move over a refused document before the document is a dead letter: one commit
//     saves both.
//
// K2. Outcomes that RefusedShare rejects are not committed.
//
// K3. The checkpoint does not move over a document that could not be written before it is due: one commit
// saves
//     both (W4).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "replicator/clock.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class Checkpoint {
 public:
  /// All references must outlive this. `board` shows when a save takes long.
  Checkpoint(const AppliedPipeline& pipeline, ChangeLog& changes, DocumentWriter& writer,
             ProgressBoard& board, const VersionCounter& versions, RefusedShare refused_share)
      : pipeline_(pipeline),
        changes_(changes),
        writer_(writer),
        board_(board),
        versions_(versions),
        refused_share_(std::move(refused_share)) {}

  /// Calls `listener` with the saved outcomes after each save.
  void on_saved(std::function<void(const Acknowledged&)> listener) { listener_ = std::move(listener); }

  /// Calls `listener` after each commit with its additions.
  void on_added(std::function<void(Committed)> listener) { added_listener_ = std::move(listener); }

  /// Puts an index that starts with so many dead letters on trial: from now on its refusals are saved only
  /// together with enough documents to judge them. So a service that is started again and again, and stops
  /// each time because too many documents are refused, adds no dead letters. The trial ends with the first
  /// window that holds, and with end_trials().
  void begin_trial(IndexId index, std::int64_t dead_letters);

  /// Call it when nothing is left to wait for.
  void end_trials() { on_trial_.clear(); }

  /// Settles a transaction whose documents Elasticsearch is shown next: its reads are durable afterwards. The
  /// caller may end it once they are on their way: that is a round trip to the source. Throws Deposed or
  /// Error.
  void settle(SourceTransaction& transaction);

  /// Makes the reads of all snapshots until now durable, by a commit that also saves the acknowledgements.
  /// Throws Deposed or Error.
  void make_durable();

  /// Saves the acknowledgements in a transaction of its own. If nothing of the tail is in flight, the
  /// checkpoint moves to `read_to`: the changes up to there needed no work.
  void save(const Position& read_to);

  /// How long outcomes may stay unsaved. REQUIRES: no transaction is open.
  std::chrono::milliseconds save_within();

  /// Since the last save.
  std::chrono::steady_clock::duration age(SteadyTime now) const { return now - saved_at_; }

 private:
  /// The content of one save.
  struct News {
    Acknowledged acknowledged;
    std::map<IndexId, UnwrittenDocuments> unwritten = {};
    std::map<IndexId, RepeatedDocuments> repeated = {};
  };

  bool waits_for_more() const;
  News take_news();
  void save_and_commit(SourceTransaction& transaction, const News& news);
  void make_due(SourceTransaction& transaction, const News& news);

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  ProgressBoard& board_;
  const VersionCounter& versions_;
  RefusedShare refused_share_;
  std::map<IndexId, std::int64_t> on_trial_;  // documents to wait for
  std::function<void(const Acknowledged&)> listener_ = [](const Acknowledged&) {};
  std::function<void(Committed)> added_listener_ = [](const Committed&) {};
  SteadyTime saved_at_ = steady_now();
  std::chrono::milliseconds save_within_{};  // as asked last
};

}  // namespace lockstep
