// `wait` and `status` beside the database in memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "replicator/source/applied_watch.h"
#include "tests/support/fake_database.h"

namespace lockstep::fake {

class FakeAppliedWatch final : public AppliedWatch {
 public:
  /// Connects. Throws Error while the database is away.
  explicit FakeAppliedWatch(const Database& database);

  /// REQUIRES: no number; transactions have none here.
  std::unique_ptr<AppliedPoint> begin(std::optional<TransactionId> transaction) override;
  std::vector<SearchedIndex> searched_indices() override;
  bool is_led() override;

 private:
  const Database& database_;
};

/// Knows of identity, epoch, dropped changes and reindexes, nothing else.
class FakeStatusReader final : public StatusReader {
 public:
  explicit FakeStatusReader(const Database& database) : database_(database) {}

  std::optional<PipelineStatus> read() override;

 private:
  const Database& database_;
};

}  // namespace lockstep::fake
