// Two generations of an index with a definition each: view, tracks, ids and routings of its own (X2).
#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using enum ReindexState;
using enum DefinedWorld::Configuration;

constexpr seconds kKeep{1'000};

}  // namespace

void RedefinedSourceContract::fill_other_view() {
  ASSERT_TRUE(world().definition(kWithOtherView)->start_reindex({"docs", kMapping, kKeep}, {}));
  ASSERT_TRUE(go(kFilling));
  source_->reload();
}

const AppliedIndex& RedefinedSourceContract::named(const std::string& name) const {
  for (const AppliedIndex& index : source_->pipeline().indices) {
    if (index.alias == name) return index;
  }
  throw std::out_of_range("no index " + name);
}

std::vector<std::string> RedefinedSourceContract::documents_of(const std::string& name) {
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  const std::optional<DocumentIds> found = transaction->resolve(named(name), changes.captured, {1000});
  std::vector<std::string> texts;
  for (const DocumentId& id : found.value()) texts.push_back(id.text);
  return texts;
}

namespace {

TEST_P(RedefinedSourceContract, EachGenerationFollowsItsOwnTracksAndRendersItsOwnView) {
  lead();
  finish_jobs();
  writer_->insert_town(7, "Ghent");
  writer_->insert_thing(1, 7);
  drain();
  const auto definition = world().definition(kWithOtherView);
  using Difference = DefinitionDifference;
  EXPECT_THAT(definition->definition_differences().at("docs"),
              Contains(AllOf(Field(&Difference::place, "view"),
                             Field(&Difference::way, Difference::Way::kNewIndex))));
  EXPECT_THAT(definition->redefined_aliases(), ElementsAre("docs"));
  ASSERT_TRUE(definition->start_reindex({"docs", kMapping, kKeep}, {}));
  EXPECT_FALSE(definition->start_reindex({"docs", kMapping, kKeep}, {})) << "it has one";
  EXPECT_TRUE(known().has_own_definition);
  EXPECT_THAT(known().view, HasSubstr("docs_2"));
  source_->reload();
  EXPECT_EQ(source_->pipeline().indices.size(), 2U) << "nobody follows it yet";
  EXPECT_THAT(source_->changes().jobs().readable, IsEmpty()) << "and the others are as they were";
  EXPECT_EQ(world().status()->read()->indices.size(), 2U);
  EXPECT_THAT(definition->applied_aliases(), ElementsAre("docs", "parcels"));

  ASSERT_TRUE(go(kFilling));
  source_->reload();
  EXPECT_FALSE(named("docs").routed);
  EXPECT_TRUE(named("docs-000002").routed);
  EXPECT_EQ(named("docs-000002").beside, "docs");
  EXPECT_THAT(jobs_of(named("docs-000002").id, JobKind::kBackfill), SizeIs(1));
  EXPECT_THAT(jobs_of(named("docs").id, JobKind::kBackfill), IsEmpty());
  writer_->rename_town(7, "Bruges");
  EXPECT_THAT(documents_of("docs"), IsEmpty());
  EXPECT_THAT(documents_of("docs-000002"), ElementsAre("t1"));
  drain();
  writer_->insert_part(1, 1);
  EXPECT_THAT(documents_of("docs"), ElementsAre("1"));
  EXPECT_THAT(documents_of("docs-000002"), IsEmpty());
  drain();
  writer_->set_n(1, 8);
  EXPECT_THAT(documents_of("docs"), ElementsAre("1"));
  EXPECT_THAT(documents_of("docs-000002"), ElementsAre("t1"));
  Rendered rendered;
  begin()->render(named("docs-000002"), ids_of({"t1"}), 1'000'000, rendered.sink());
  EXPECT_THAT(rendered.json.at("t1"), HasSubstr("16"));
}

TEST_P(RedefinedSourceContract, ApplyLeavesTwoGenerationsOfOneDefinitionAsTheyAre) {
  lead();
  finish_jobs();
  ASSERT_TRUE(source_->reindexes().start({"docs", kMapping, kKeep}));
  ASSERT_TRUE(go(kFilling));
  EXPECT_THAT(world().definition(kApplied)->plan(), IsEmpty());
  swap_generations();
  EXPECT_THAT(world().definition(kApplied)->plan(), IsEmpty());
}

TEST_P(RedefinedSourceContract, AKeptGenerationIsFollowedByItsOwnDefinitionUntilItIsDropped) {
  lead();
  finish_jobs();
  writer_->insert_thing(1, 7);
  fill_other_view();
  swap_generations();
  EXPECT_EQ(known().live_name, "docs-000002");
  EXPECT_FALSE(named("docs-000001").routed);
  EXPECT_THAT(world().definition(kWithOtherView)->plan(), IsEmpty());
  EXPECT_THAT(world().definition(kWithOtherView)->redefined_aliases(), IsEmpty());
  EXPECT_THAT(world().definition(kApplied)->redefined_aliases(), ElementsAre("docs"));
  // Something unrelated is applied.
  world().definition(kWithOtherViewWithoutParcels)->apply({});
  source_->reload();
  drain();
  writer_->insert_part(1, 1);
  EXPECT_THAT(documents_of("docs-000001"), ElementsAre("1"));
  EXPECT_THAT(documents_of("docs"), IsEmpty());
  drain();

  end_reindex();
  const auto definition = world().definition(kWithOtherViewWithoutParcels);
  EXPECT_THAT(definition->plan(), Not(IsEmpty())) << "the capture of parts";
  definition->drop_unneeded({});
  EXPECT_THAT(definition->plan(), IsEmpty());
  source_->reload();
  writer_->insert_part(2, 1);
  EXPECT_EQ(drain(), Reported{}) << "nobody needs it any more";
  writer_->set_n(1, 9);
  EXPECT_THAT(documents_of("docs"), ElementsAre("t1"));
}

TEST_P(RedefinedSourceContract, AGenerationThatIsTakenBackLeavesNothing) {
  lead();
  finish_jobs();
  ASSERT_TRUE(world().definition(kWithOtherView)->start_reindex({"docs", kMapping, kKeep}, {}));
  end_reindex();
  EXPECT_THAT(source_->reindexes().all(), IsEmpty());
  world().definition(kApplied)->drop_unneeded({});
  EXPECT_THAT(world().definition(kApplied)->plan(), IsEmpty());
  EXPECT_THAT(source_->changes().jobs().readable, IsEmpty());
  fill_other_view();
  EXPECT_EQ(named("docs-000002").beside, "docs");
}

TEST_P(RedefinedSourceContract, AChangeInPlaceReachesOnlyTheGenerationThatItIsOf) {
  lead();
  fill_other_view();
  swap_generations();
  finish_jobs();
  EXPECT_THAT(world().definition(kApplied)->altered_aliases(), IsEmpty());
  world().replace_view();
  const auto definition = world().definition(kWithOtherView);
  EXPECT_THAT(definition->plan(), ElementsAre(Field(&PlanStep::object, "index docs-000001")));
  definition->apply({});
  source_->reload();
  EXPECT_THAT(jobs_of(named("docs-000001").id, JobKind::kBackfill), SizeIs(1));
  EXPECT_THAT(jobs_of(named("docs").id, JobKind::kBackfill), IsEmpty());
}

TEST_P(RedefinedSourceContract, AnIndexOfAnOlderLockstepGetsItsDefinitionByApply) {
  lead();
  finish_jobs();
  world().plant_null("index", "configured");
  const auto start = [&] {
    world().definition(kWithOtherView)->start_reindex({"docs", kMapping, kKeep}, {});
  };
  EXPECT_THROW(start(), Error) << "the old generation's is not known";
  EXPECT_THAT(source_->reindexes().all(), IsEmpty());
  EXPECT_THAT(world().definition(kApplied)->plan(),
              UnorderedElementsAre(Field(&PlanStep::detail, "note how it is defined"),
                                   Field(&PlanStep::detail, "note how it is defined")));
  world().definition(kApplied)->apply({});
  EXPECT_THAT(world().definition(kApplied)->plan(), IsEmpty());
  start();
  EXPECT_EQ(known().state, kCreating);
}

TEST_P(RedefinedSourceContract, AStoredDefinitionThatNoLockstepHasWrittenIsNamed) {
  lead();
  fill_other_view();
  world().plant_text("index", "configured", R"({"view": 17})");
  try {
    world().definition(kWithOtherView)->drop_unneeded({});
    FAIL() << "it is taken for something";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("index docs"), HasSubstr("configured")));
  }
}

}  // namespace
}  // namespace lockstep
