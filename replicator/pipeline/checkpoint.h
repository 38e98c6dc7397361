// Moves the checkpoint, and sees to it that what a transaction saw is durable before Elasticsearch is shown
// it (S4): by a commit, which saves what has been acknowledged meanwhile, or without one where nothing needs
// it.
//
// K1. The checkpoint does not move over a refused document before it is a dead letter: both are one commit.
// K2. What RefusedShare rejects is not committed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "replicator/clock.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/source.h"

namespace lockstep {

class Checkpoint {
 public:
  /// Both references must outlive this.
  Checkpoint(DocumentWriter& writer, const VersionCounter& versions, RefusedShare refused_share)
      : writer_(writer), versions_(versions), refused_share_(std::move(refused_share)) {}

  /// Called after each save with what it has saved.
  void on_saved(std::function<void(const Acknowledged&)> listener) { listener_ = std::move(listener); }

  /// For an index with so many dead letters at the start: from here on refusals are saved only together with
  /// as many documents as can be judged, so that a service that is started again and again, and stops each
  /// time because too many are refused, adds no dead letters. Ends with the first window that holds, and with
  /// end_trial().
  void begin_trial(int index, std::int64_t dead_letters);

  /// Nothing is left to wait for.
  void end_trial() { on_trial_.clear(); }

  /// Ends a transaction whose documents are to be shown to Elasticsearch next. Throws Deposed or Error.
  void settle(std::unique_ptr<SourceTransaction> transaction);

  /// Saves in a transaction of its own what has been acknowledged and, when nothing is in flight, that
  /// everything up to `read_to` needs no work.
  void save(Source& source, const Position& read_to);

  /// Since the last save.
  std::chrono::steady_clock::duration age(SteadyTime now) const { return now - saved_at_; }

 private:
  bool waits_for_more() const;
  Acknowledged take_acknowledged();
  void save_and_commit(SourceTransaction& transaction, const Acknowledged& acknowledged);

  DocumentWriter& writer_;
  const VersionCounter& versions_;
  RefusedShare refused_share_;
  std::map<int, std::int64_t> on_trial_;  // documents to wait for, by index
  std::function<void(const Acknowledged&)> listener_ = [](const Acknowledged&) {};
  SteadyTime saved_at_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep
