// Reindexes: rows that people write and the leader takes from state to state (X1 to X3 in
// source/reindexes.h).
#include <gmock/gmock.h>

#include <array>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using enum ReindexState;

std::vector<std::string> names_of(const AppliedPipeline& pipeline) {
  std::vector<std::string> names;
  for (const AppliedIndex& index : pipeline.indices)
    names.push_back(index.alias + " by " + index.target() + (index.beside ? " beside " + *index.beside : ""));
  return names;
}

}  // namespace

bool ReindexedSourceContract::go(std::optional<ReindexState> to) {
  return source_->reindexes().advance(known(), epoch_, {to, kTwo});
}

void ReindexedSourceContract::swap_generations() {
  for (const ReindexState state : {kComparing, kSwapping, kKept}) ASSERT_TRUE(go(state));
  source_->reload();
}

void ReindexedSourceContract::end_reindex() {
  ASSERT_TRUE(go(kDropping));
  ASSERT_TRUE(go(std::nullopt));
  source_->reload();
}

namespace {

TEST_P(ReindexedSourceContract, AReindexGoesFromStateToStateAndLeavesNothing) {
  lead();
  finish_jobs();
  const std::string revision = source_->revision();
  EXPECT_THAT(source_->reindexes().all(), IsEmpty());
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(1'000)}));
  const auto known = [&] { return source_->reindexes().all().at(0); };
  EXPECT_EQ(known().alias, "docs");
  EXPECT_EQ(known().state, kCreating);
  EXPECT_EQ(known().mapping, kMapping);
  EXPECT_EQ(known().live, docs().id);
  EXPECT_FALSE(known().beside);
  source_->reindexes().note(known().id, "a reason");
  EXPECT_EQ(known().reason, "a reason");

  ASSERT_TRUE(go(kFilling));
  EXPECT_EQ(known().reason, "") << "of the state before";
  const auto searched = [&] {
    const std::vector<SearchedIndex> found = world_->watch()->searched_indices();
    return found.size() == 1 ? found[0].alias + " is " + found[0].index + " or " + found[0].or_index : "";
  };
  EXPECT_EQ(searched(), "docs is docs-000001 or docs-000001");
  EXPECT_NE(source_->revision(), revision);
  source_->reload();
  EXPECT_THAT(names_of(source_->pipeline()), ElementsAre("docs by docs-000001-w", "parcels by parcels",
                                                         "docs-000002 by docs-000002-w beside docs"));
  const IndexId old = *known().live;
  const IndexId made = *known().beside;
  EXPECT_EQ(source_->pipeline().find(made)->captures, source_->pipeline().find(old)->captures);
  const std::vector<Job> fill = jobs_of(made, JobKind::kBackfill);
  ASSERT_THAT(fill, SizeIs(1));
  EXPECT_EQ(fill[0].total, 17);

  ASSERT_TRUE(go(kComparing));
  EXPECT_THAT(jobs_of(made, JobKind::kComparison), SizeIs(1));
  EXPECT_THAT(jobs_of(made, JobKind::kSweep), IsEmpty()) << "it was empty at the beginning";
  ASSERT_TRUE(go(kSwapping));
  EXPECT_FALSE(known().was_swapped);
  EXPECT_EQ(searched(), "docs is docs-000001 or docs-000002");
  ASSERT_TRUE(go(kKept));
  EXPECT_EQ(searched(), "docs is docs-000002 or docs-000002");
  EXPECT_TRUE(known().was_swapped);
  EXPECT_GT(known().keep, seconds(500));
  EXPECT_EQ(known().live_name, "docs-000002");
  EXPECT_EQ(known().beside_name, "docs-000001");
  source_->reload();
  EXPECT_THAT(names_of(source_->pipeline()), ElementsAre("docs-000001 by docs-000001-w beside docs",
                                                         "parcels by parcels", "docs by docs-000002-w"));
  const auto status = world_->status()->read();
  ASSERT_TRUE(status);
  ASSERT_THAT(status->reindexes, SizeIs(1));
  EXPECT_EQ(status->reindexes[0].state, "kept");

  ASSERT_TRUE(source_->reindexes().want(known().id, ReindexWish::kFinish, Reindexes::Force::kNo));
  EXPECT_EQ(known().wish, ReindexWish::kFinish);
  ASSERT_TRUE(go(kDropping));
  source_->reload();
  EXPECT_THAT(names_of(source_->pipeline()), ElementsAre("parcels by parcels", "docs by docs"));
  const ReindexId id = known().id;
  ASSERT_TRUE(go(std::nullopt));
  EXPECT_THAT(source_->reindexes().all(), IsEmpty());
  EXPECT_EQ(searched(), "");
  EXPECT_FALSE(source_->reindexes().want(id, ReindexWish::kBack, Reindexes::Force::kNo)) << "it is gone";
}

// `wait` was over, then the alias moved to an index in which the document was still due.
TEST_P(ReindexedSourceContract, WhatIsDueOfTheGenerationBesideIsWaitedForWhenTheAliasMovesThere) {
  lead();
  finish_jobs();
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)}));
  ASSERT_TRUE(go(kFilling));
  ASSERT_TRUE(go(kComparing));
  source_->reload();
  finish_jobs();
  drain();
  const AppliedIndex& beside = *source_->pipeline().find(*known().beside);
  {
    const auto transaction = begin();
    transaction->add_due(beside, {{"1"}}, {.reason = "a test"});
    transaction->commit();
  }
  const auto watch = world_->watch();
  const auto look = [&] { return watch->begin(std::nullopt)->look(); };
  EXPECT_EQ(look().kind, AppliedState::Kind::kApplied) << look().reason;
  ASSERT_TRUE(go(kSwapping));
  EXPECT_EQ(look().kind, AppliedState::Kind::kPending);
  EXPECT_THAT(look().reason, testing::HasSubstr("1 document of docs-000002 is due"));
}

TEST_P(ReindexedSourceContract, AnAliasHasOneReindexWhichOnlyTheLeaderTakesOnFromTheStateThatItKnows) {
  lead();
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)}));
  EXPECT_FALSE(other()->reindexes().start({"docs", kMapping, seconds(0)}));
  EXPECT_TRUE(source_->reindexes().start({"parcels", kMapping, seconds(0)}));
  EXPECT_FALSE(source_->reindexes().start({"nobody's", kMapping, seconds(0)}));
  const Reindex known = source_->reindexes().all().at(0);
  EXPECT_THROW(source_->reindexes().advance(known, Epoch{epoch_.value - 1}, {kFilling, kTwo}), Deposed);
  EXPECT_THROW(source_->reindexes().advance(known, epoch_, {kKept}), Error) << "no such way";
  ASSERT_TRUE(source_->reindexes().advance(known, epoch_, {kFilling, kTwo}));
  EXPECT_FALSE(source_->reindexes().advance(known, epoch_, {kFilling, kTwo})) << "it is there already";

  const Reindex filling = source_->reindexes().all().at(0);
  ReindexStep fails{kDropping};
  fails.failure = "it refuses everything";
  ASSERT_TRUE(source_->reindexes().advance(filling, epoch_, fails));
  ASSERT_TRUE(source_->reindexes().advance(source_->reindexes().all().at(0), epoch_, {kFailed}));
  EXPECT_EQ(source_->reindexes().all().at(0).failure, "it refuses everything");
  EXPECT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)})) << "in place of the failed one";
  EXPECT_EQ(source_->reindexes().all().at(0).state, kCreating);
  EXPECT_EQ(source_->reindexes().all().at(0).failure, "");
}

// PostgreSQL refuses by itself, so that no role of the service can do otherwise.
TEST_P(ReindexedSourceContract, AReindexTakesExactlyTheStepsThatTheTableHas) {
  lead();
  Reindexes& reindexes = source_->reindexes();
  const auto bring_to = [&](ReindexState state) {
    ASSERT_TRUE(reindexes.start({"docs", kMapping, seconds(0)}));
    if (state >= kDropping) ASSERT_TRUE(go(kDropping));
    if (state == kFailed) ASSERT_TRUE(go(kFailed));
    for (const ReindexState next : {kFilling, kComparing, kSwapping, kKept}) {
      if (next <= state && state < kDropping) ASSERT_TRUE(go(next));
    }
    ASSERT_EQ(known().state, state);
  };
  const auto end = [&] {
    const ReindexState state = known().state;
    if (state < kDropping) ASSERT_TRUE(go(kDropping));
    ASSERT_TRUE(go(std::nullopt));
  };
  constexpr std::array kAll = {kCreating, kFilling, kComparing, kSwapping, kKept, kDropping, kFailed};
  std::vector<std::optional<ReindexState>> ends = {std::nullopt};
  ends.insert(ends.end(), kAll.begin(), kAll.end());
  for (const ReindexState from : kAll) {
    for (const std::optional<ReindexState> to : ends) {
      SCOPED_TRACE(std::string(name_of(from)) + " to " + std::string(to ? name_of(*to) : "its end"));
      bring_to(from);
      if (HasFatalFailure()) return;
      if (!is_way(from, to)) {
        EXPECT_THROW(go(to), Error);
        EXPECT_EQ(known().state, from);
        end();
        continue;
      }
      EXPECT_TRUE(go(to));
      if (!to) {
        EXPECT_THAT(reindexes.all(), IsEmpty());
        continue;
      }
      EXPECT_EQ(known().state, *to);
      end();
    }
  }
}

TEST_P(ReindexedSourceContract, TheLimitOfAReindexIsKeptUntilSomebodyChangesIt) {
  lead();
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0), 500}));
  const ReindexId id = known().id;
  EXPECT_EQ(known().max_rate, 500);
  ASSERT_TRUE(go(kFilling));
  EXPECT_EQ(other()->reindexes().all().at(0).max_rate, 500);
  EXPECT_EQ(world_->status()->read().value().reindexes.at(0).max_rate, 500);
  ASSERT_TRUE(source_->reindexes().limit(id, 5'000'000'000));
  EXPECT_EQ(known().max_rate, 5'000'000'000);
  ASSERT_TRUE(source_->reindexes().limit(id, std::nullopt));
  EXPECT_EQ(known().max_rate, std::nullopt);
  EXPECT_EQ(world_->status()->read().value().reindexes.at(0).max_rate, std::nullopt);

  ASSERT_TRUE(source_->reindexes().limit(id, 7));
  ASSERT_TRUE(source_->reindexes().advance(known(), epoch_, {kDropping, {}, "a test"}));
  ASSERT_TRUE(go(kFailed));
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)}));
  EXPECT_EQ(known().max_rate, std::nullopt) << "that was the limit of the failed one";
  ASSERT_TRUE(go(kDropping));
  const ReindexId last = known().id;
  ASSERT_TRUE(go(std::nullopt));
  EXPECT_FALSE(source_->reindexes().limit(last, 7)) << "it is gone";
}

TEST_P(ReindexedSourceContract, ThePaceOfTheLastJobOfAKindIsKept) {
  lead();
  EXPECT_EQ(source_->reindexes().pace(docs().id, JobKind::kBackfill), std::nullopt);
  source_->reindexes().note_pace(docs().id, JobKind::kBackfill, {1'000, seconds(2)});
  source_->reindexes().note_pace(docs().id, JobKind::kBackfill, {5'000'000'000, seconds(30)});
  source_->reindexes().note_pace(docs().id, JobKind::kComparison, {1, std::chrono::milliseconds(1)});
  EXPECT_EQ(other()->reindexes().pace(docs().id, JobKind::kBackfill), (Pace{5'000'000'000, seconds(30)}));
  EXPECT_EQ(source_->reindexes().pace(docs().id, JobKind::kComparison),
            (Pace{1, std::chrono::milliseconds(1)}));
  EXPECT_EQ(source_->reindexes().pace(parcels().id, JobKind::kBackfill), std::nullopt);

  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)}));
  ASSERT_TRUE(go(kFilling));
  const IndexId made = *known().beside;
  source_->reindexes().note_pace(made, JobKind::kBackfill, {17, seconds(1)});
  end_reindex();
  EXPECT_EQ(source_->reindexes().pace(made, JobKind::kBackfill), std::nullopt) << "it is gone";
  source_->reindexes().note_pace(made, JobKind::kBackfill, {17, seconds(1)});
  EXPECT_EQ(source_->reindexes().pace(made, JobKind::kBackfill), std::nullopt);
}

TEST_P(ReindexedSourceContract, WhatOnlyTheGenerationBesideRefusesIsCounted) {
  lead();
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, seconds(0)}));
  ASSERT_TRUE(source_->reindexes().advance(source_->reindexes().all().at(0), epoch_, {kFilling, kTwo}));
  source_->reload();
  const Reindex known = source_->reindexes().all().at(0);
  EXPECT_EQ(source_->reindexes().refused_beside(known), 0);
  const AppliedIndex& live = *source_->pipeline().find(*known.live);
  const AppliedIndex& beside = *source_->pipeline().find(*known.beside);
  Acknowledged news;
  news.refused = {refused(live, "1", 1), refused(beside, "1", 1), refused(beside, "2", 1)};
  save(news);
  EXPECT_EQ(source_->reindexes().refused_beside(known), 1);
}

}  // namespace
}  // namespace lockstep
