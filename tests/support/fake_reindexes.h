// Reindexes in the database in memory, under the contract in source/reindexes.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/reindexes.h"
#include "tests/support/fake_transaction.h"

namespace lockstep::fake {

class FakeReindexes final : public Reindexes {
 public:
  /// Both must outlive this.
  FakeReindexes(Database& database, const Connection& connection)
      : database_(database), connection_(connection) {}

  std::vector<Reindex> all() override;
  bool start(const WantedReindex& wanted) override;
  bool limit(ReindexId reindex, std::optional<std::int64_t> max_rate) override;
  bool want(ReindexId reindex, ReindexWish wish, Force force) override;
  bool advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) override;
  void note(ReindexId reindex, const std::string& reason) override;
  std::int64_t refused_beside(const Reindex& reindex) override;
  void note_pace(IndexId index, JobKind kind, const Pace& pace) override;
  std::optional<Pace> pace(IndexId index, JobKind kind) override;

 private:
  /// A transaction of its own. `write` returns whether there is anything to commit.
  bool commit(const std::function<bool(State&)>& write);
  bool change(ReindexId reindex, const std::function<void(Reindex&)>& write);

  Database& database_;
  const Connection& connection_;
};

}  // namespace lockstep::fake
