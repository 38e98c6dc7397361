#include "tests/support/fake_watch.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "replicator/quantity.h"
#include "replicator/source/awaited_work.h"
#include "replicator/source/outbox/sweep_wait.h"
#include "replicator/source/reindexes.h"

namespace lockstep::fake {
namespace {

AppliedState pending(std::string reason) {
  return {AppliedState::Kind::kPending, std::move(reason)};
}

// Searchers do not see a generation that is beside another, so nobody waits for it, until the alias is about
// to move there.
bool is_awaited(const State& state, IndexId index) {
  return std::ranges::none_of(state.reindexes, [&](const auto& each) {
    const Reindex& reindex = each.second.reindex;
    return reindex.beside == index && reindex.state != ReindexState::kSwapping;
  });
}

std::vector<UnfinishedWork> unfinished(const State& state) {
  std::vector<UnfinishedWork> work;
  const auto name = [&](IndexId index) {
    const AppliedIndex* const found = state.pipeline.find(index);
    return found == nullptr ? "an index that is gone" : found->alias;
  };
  for (const auto& [index, reason] : state.set_aside) {
    if (is_awaited(state, index)) work.push_back({.what = name(index) + ": " + reason});
  }
  for (const DueList& list : due_lists(state)) {
    if (!is_awaited(state, list.index)) continue;
    const std::string what = list.documents == 0
                                 ? "documents of " + name(list.index) + " are due that are still to be found"
                                 : counted(list.documents, "document") + " of " + name(list.index) +
                                       (list.documents == 1 ? " is due" : " are due");
    work.push_back({.due = UnfinishedWork::Due{list.oldest, list.newest}, .what = what});
  }
  for (const auto& [id, stored] : state.jobs) {
    if (!is_awaited(state, stored.job.index)) continue;
    std::string what = std::string(name_of(stored.job.kind)) + " of " + name(stored.job.index) + ", " +
                       counted(stored.job.done, "document") + " so far";
    if (stored.job.kind == JobKind::kSweep) what += std::string("; ") + kSweepWaits;
    work.push_back({.job = id, .what = std::move(what)});
  }
  return work;
}

/// The rows of the outbox that are there when it begins.
class FakeAppliedPoint final : public AppliedPoint {
 public:
  explicit FakeAppliedPoint(const Database& database)
      : database_(database), rows_(database.snapshot()->outbox.size()) {}

  AppliedState look() override {
    database_.require_present();
    const std::shared_ptr<const State> state = database_.snapshot();
    const std::string generation = std::to_string(state->epoch.value) + " " + state->pipeline.revision;
    if (std::exchange(generation_, generation) != generation) work_.forget();
    if (state->partners.place != database_.identity().place)
      return pending("no leader has compared this database with Elasticsearch yet");
    if (state->given_up) return pending("the outbox was full, so changes were dropped");
    const std::vector<UnfinishedWork> work = unfinished(*state);
    if (!work_.has_looked() && state->position < rows_) return pending(pending_changes(work));
    return work_.look(work);
  }

 private:
  const Database& database_;
  const std::size_t rows_;
  AwaitedWork work_;
  std::string generation_;
};

}  // namespace

FakeAppliedWatch::FakeAppliedWatch(const Database& database) : database_(database) {
  database.require_present();
}

std::unique_ptr<AppliedPoint> FakeAppliedWatch::begin(std::optional<TransactionId> transaction) {
  if (transaction) throw std::logic_error("transactions have no numbers here");
  database_.require_present();
  return std::make_unique<FakeAppliedPoint>(database_);
}

std::vector<SearchedIndex> FakeAppliedWatch::searched_indices() {
  database_.require_present();
  std::vector<SearchedIndex> searched;
  for (const auto& [id, stored] : database_.snapshot()->reindexes) {
    const Reindex& reindex = stored.reindex;
    if (reindex.live_name.empty() || reindex.state == ReindexState::kFailed) continue;
    const bool moves = reindex.state == ReindexState::kSwapping;
    searched.push_back({reindex.alias, reindex.live_name, moves ? reindex.beside_name : reindex.live_name});
  }
  return searched;
}

bool FakeAppliedWatch::is_led() {
  return database_.is_led();
}

std::optional<PipelineStatus> FakeStatusReader::read() {
  database_.require_present();
  const std::shared_ptr<const State> state = database_.snapshot();
  PipelineStatus status;
  status.identity = state->pipeline.identity;
  status.epoch = state->epoch;
  status.given_up = state->given_up;
  for (const auto& [id, stored] : state->reindexes) {
    const Reindex& reindex = stored.reindex;
    status.reindexes.push_back({reindex.alias, std::string(name_of(reindex.state)), reindex.live_name,
                                reindex.beside_name, std::string(name_of(reindex.wish)), reindex.reason,
                                reindex.failure, stored.kept_for(), reindex.max_rate});
  }
  return status;
}

}  // namespace lockstep::fake
