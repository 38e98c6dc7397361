// Moves the checkpoint: what Elasticsearch has acknowledged is saved by the transaction that reads what comes
// next, so that following changes costs one commit a batch, and that commit comes before Elasticsearch is
// shown anything that the transaction saw (S4).
#pragma once

#include <chrono>
#include <functional>

#include "replicator/clock.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/source.h"

namespace lockstep {

class Checkpoint {
 public:
  /// Both references must outlive this.
  Checkpoint(DocumentWriter& writer, const VersionCounter& versions) : writer_(writer), versions_(versions) {}

  /// Called after each save with what it has saved.
  void on_saved(std::function<void(const Acknowledged&)> listener) { listener_ = std::move(listener); }

  /// Saves what has been acknowledged in this transaction and commits it. Throws Deposed or Error.
  void commit(SourceTransaction& transaction);

  /// Saves in a transaction of its own what has been acknowledged and, when nothing is in flight, that
  /// everything up to `read_to` needs no work.
  void save(Source& source, const Position& read_to);

  /// Since the last save.
  std::chrono::steady_clock::duration age(SteadyTime now) const { return now - saved_at_; }

 private:
  void save_and_commit(SourceTransaction& transaction, const Acknowledged& acknowledged);

  DocumentWriter& writer_;
  const VersionCounter& versions_;
  std::function<void(const Acknowledged&)> listener_ = [](const Acknowledged&) {};
  SteadyTime saved_at_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep
