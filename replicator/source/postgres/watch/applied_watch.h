// The answer to `wait` out of PostgreSQL. Elasticsearch has everything up to a point when
//
// P1. no row of the outbox that belongs to the point lies beyond the checkpoint, which moves only over
//     changes that Elasticsearch has acknowledged;
//
// P2. the jobs that exist once P1 holds are finished: work that left the tail as a job did so before the
//     checkpoint moved over it;
//
// P3. no index is paused, a comparison has been added for any dropped changes, and the last leader has seen
//     this database;
//
// P4. the point sees no part of a tracked table that is not followed yet: rows inserted straight into a new
//     partition, and rows that a detached one has taken away, are noted in the outbox only once the leader
//     has followed it. So the point is a snapshot in which every part is followed. That of a transaction is
//     one, too, if parts may have been followed after it.
//
// P4. no index that is searched is made of other definitions than its documents were: a replaced one waits
//     for `apply`, and for the comparison of P2 once it is put back.
//
// Rows of other tables do not count, so the checkpoint of an idle pipeline need not move.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/postgres/session/place.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresAppliedWatch final : public AppliedWatch {
 public:
  /// As open_applied_watch().
  explicit PostgresAppliedWatch(const Config& config);

  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) override;
  std::vector<SearchedIndex> searched_indices() override;
  bool is_led() override;

 private:
  friend class PostgresAppliedPoint;

  enum class TransactionState { kNotBegun, kOpen, kRolledBack, kCommitted };

  /// A transaction that is too old for the server to remember counts as committed. Throws Error for a state
  /// that this does not know.
  TransactionState state_of(TransactionId transaction);

  /// Loads the ids of the pipeline's captures, which change with an `apply`.
  void load_captures();

  /// The unmet part of P4, and the remedy, by a snapshot from after this was called; empty: nothing.
  std::string altered_index();

  PostgresSession session_;
  const std::string schema_name_;  // not quoted
  int pipeline_ = 0;
  std::string identity_;
  PostgresPlace place_;
  std::string captures_;  // an array literal
};

}  // namespace lockstep
