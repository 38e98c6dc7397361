// The answer to `wait` out of PostgreSQL. A point is passed when
// P1. no row of the outbox that belongs to it lies beyond the checkpoint, which moves over nothing but what
//     Elasticsearch has acknowledged;
// P2. the jobs that exist once P1 holds are gone: what left the tail as a job did so before the checkpoint
//     moved over it;
// P3. no index is set aside, no changes were given up without a comparison, and the source is the one that
//     the last leader has seen.
// Rows of other tables do not count, so an idle pipeline's checkpoint need not move.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/applied_watch.h"
#include "replicator/source/postgres/session/session.h"

namespace lockstep {

class PostgresAppliedWatch final : public AppliedWatch {
 public:
  /// Connects. Throws Error, UsageError when the pipeline has not been applied.
  explicit PostgresAppliedWatch(const Config& config);

  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) override;
  bool is_led() override;

 private:
  friend class PostgresAppliedPoint;

  /// As pg_xact_status() says it; "old" when nobody remembers, "future" when it has not begun.
  std::string transaction_status(const std::string& number);

  /// The captures change with an `apply`.
  void load_captures();

  PostgresSession session_;
  int pipeline_ = 0;
  std::string identity_;
  std::string place_;     // which database this is
  std::string captures_;  // an array literal
};

}  // namespace lockstep
