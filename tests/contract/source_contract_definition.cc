// `check`, `plan`, `apply` and `remove`: what they do to a database, and that they do nothing twice.
#include <gmock/gmock.h>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Configuration = DefinedWorld::Configuration;

std::vector<std::string> objects_of(const std::vector<PlanStep>& steps) {
  std::vector<std::string> objects;
  for (const PlanStep& step : steps) objects.push_back(step.object);
  return objects;
}

TEST_P(DefinedSourceContract, WhatWasAppliedNeedsNoPlan) {
  const auto definition = world().definition(Configuration::kApplied);
  EXPECT_THAT(definition->applied_aliases(), ElementsAre("docs", "parcels"));
  const auto fields = definition->document_fields();
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_THAT(fields.begin()->second, Not(IsEmpty()));
  EXPECT_THAT(objects_of(definition->plan()), IsEmpty());
  std::vector<PlanStep> done;
  definition->apply({[&](const PlanStep& step) { done.push_back(step); }, {}});
  EXPECT_THAT(objects_of(done), IsEmpty());
}

TEST_P(DefinedSourceContract, ADefinitionSaysWhoItIsConnectedTo) {
  source_ = world_->open();
  const auto definition = world().definition(Configuration::kApplied);
  EXPECT_NE(definition->server(), "");
  EXPECT_EQ(definition->user().empty(), definition->privileges_for("somebody").empty())
      << "a source knows users or it does not";
  EXPECT_EQ(definition->identity(), source_->pipeline().identity);
  EXPECT_NE(definition->identity(), "");
}

TEST_P(DefinedSourceContract, PlanTellsWhatApplyDoesAndChangesNothing) {
  const auto definition = world().definition(Configuration::kWithoutParcels);
  const std::vector<PlanStep> plan = definition->plan();
  EXPECT_THAT(plan, Not(IsEmpty()));
  EXPECT_EQ(objects_of(definition->plan()), objects_of(plan));
  EXPECT_THAT(definition->applied_aliases(), ElementsAre("docs", "parcels"));
  std::vector<PlanStep> done;
  definition->apply({[&](const PlanStep& step) { done.push_back(step); }, {}});
  EXPECT_EQ(objects_of(done), objects_of(plan));
  EXPECT_THAT(definition->applied_aliases(), ElementsAre("docs"));
  EXPECT_THAT(objects_of(definition->plan()), IsEmpty());
}

TEST_P(DefinedSourceContract, AnIndexThatHasDocumentsAlreadyBeginsWithAComparisonAndASweep) {
  world().definition(Configuration::kWithoutParcels)->apply({});
  const auto definition = world().definition(Configuration::kApplied);
  definition->note_filled({"parcels"});
  definition->apply({});
  lead();
  EXPECT_THAT(jobs_of(parcels().id, JobKind::kComparison), testing::SizeIs(1));
  EXPECT_THAT(jobs_of(parcels().id, JobKind::kSweep), testing::SizeIs(1));
  EXPECT_THAT(jobs_of(parcels().id, JobKind::kBackfill), IsEmpty());
}

TEST_P(DefinedSourceContract, ASourceNoticesThatItsPipelineWasAppliedAnew) {
  source_ = world_->open();
  const std::string revision = source_->revision();
  world().definition(Configuration::kApplied)->apply({});
  EXPECT_EQ(source_->revision(), revision) << "nothing was changed";
  world().definition(Configuration::kWithoutParcels)->apply({});
  EXPECT_NE(source_->revision(), revision);
  EXPECT_EQ(source_->pipeline().revision, revision);
  EXPECT_EQ(source_->pipeline().indices.size(), 2U);
  source_->reload();
  EXPECT_EQ(source_->pipeline().revision, source_->revision());
  ASSERT_EQ(source_->pipeline().indices.size(), 1U);
  EXPECT_EQ(docs().alias, "docs");
}

TEST_P(DefinedSourceContract, ANewIndexIsFilled) {
  world().definition(Configuration::kWithoutParcels)->apply({});
  lead();
  finish_jobs();
  EXPECT_THAT(source_->changes().jobs().readable, IsEmpty());
  world().definition(Configuration::kApplied)->apply({});
  source_->reload();
  ASSERT_EQ(source_->pipeline().indices.size(), 2U);
  EXPECT_EQ(jobs_of(parcels().id, JobKind::kBackfill).size(), 1U);
  EXPECT_THAT(jobs_of(docs().id, JobKind::kBackfill), IsEmpty());
  writer_->insert_parcel(1, 1);
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(DefinedSourceContract, ARefilledIndexBeginsAnew) {
  lead();
  finish_jobs();
  world().definition(Configuration::kApplied)->refill({"docs", "nobody's"}, "because");
  EXPECT_NE(source_->revision(), source_->pipeline().revision) << "whoever leads takes it up";
  world().definition(Configuration::kApplied)->refill({"docs"}, "because of something else");
  const std::vector<Job> jobs = source_->changes().jobs().readable;
  ASSERT_EQ(jobs.size(), 1U) << "nobody had begun the first one";
  EXPECT_EQ(jobs[0].reason, "because of something else");
  EXPECT_EQ(jobs[0].kind, JobKind::kBackfill);
  EXPECT_EQ(jobs[0].index, docs().id);
  EXPECT_EQ(jobs[0].position, JobPosition(NotBegun{}));
}

TEST_P(DefinedSourceContract, WhatDoesNotFitIsFoundBeforeAnythingIsChanged) {
  EXPECT_FALSE(has_errors(world().definition(Configuration::kApplied)->check()));
  const auto definition = world().definition(Configuration::kWithUnknownView);
  EXPECT_TRUE(has_errors(definition->check()));
  EXPECT_THROW(definition->plan(), UsageError);
  EXPECT_THROW(definition->apply({}), UsageError);
  EXPECT_THAT(objects_of(world().definition(Configuration::kApplied)->plan()), IsEmpty());
}

TEST_P(DefinedSourceContract, WhatIsRemovedIsGoneAndCanBeAppliedAgain) {
  const auto definition = world().definition(Configuration::kApplied);
  const std::string identity = definition->identity();
  const std::vector<PlanStep> plan = definition->removal_plan();
  EXPECT_THAT(plan, Not(IsEmpty()));
  EXPECT_THAT(definition->applied_aliases(), ElementsAre("docs", "parcels")) << "a plan changes nothing";
  std::vector<PlanStep> done;
  definition->remove({[&](const PlanStep& step) { done.push_back(step); }, {}});
  EXPECT_EQ(objects_of(done), objects_of(plan));
  EXPECT_THAT(definition->applied_aliases(), IsEmpty());
  EXPECT_EQ(definition->identity(), "");
  EXPECT_THAT(definition->removal_plan(), IsEmpty());
  EXPECT_THROW(world_->open(), UsageError);
  EXPECT_NO_THROW(writer_->insert_thing(1, 0)) << "a trigger was left";
  EXPECT_NO_THROW(definition->remove({}));
  EXPECT_THAT(definition->plan(), Not(IsEmpty()));
  definition->apply({});
  EXPECT_NE(definition->identity(), identity);
  lead();
  writer_->insert_thing(2, 0);
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(DefinedSourceContract, ASourceThatIsOpenNoticesThatItsPipelineWasRemoved) {
  source_ = world_->open();
  EXPECT_NE(source_->revision(), "");
  world().definition(Configuration::kApplied)->remove({});
  EXPECT_THROW(source_->reload(), UsageError);
}

TEST_P(DefinedSourceContract, AUserWithThePrivilegesCanDoWhatALeaderDoes) {
  const std::string user = world().create_user();
  world().execute_as_owner(world().definition(Configuration::kApplied)->privileges_for(user));
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  source_ = world().open_as(user);
  ASSERT_TRUE(becomes_true([&] { return source_->lead().try_lead(); }));
  epoch_ = source_->lead().raise_epoch({}, {source_->lead().identity().place, {{docs().id, "a uuid"}}});
  position_ = source_->changes().checkpoint();
  writer_->insert_things(1, 3);
  make_due(docs());
  EXPECT_TRUE(finds(docs(), 3));
  {
    const auto transaction = begin();
    Rendered documents;
    transaction->render_page_for(version(1), parcels(), std::nullopt, 10, 1 << 20, documents.sink());
    EXPECT_EQ(documents.routing.at("1"), "Ulm");
    transaction->commit();
  }
  Acknowledged acknowledged;
  acknowledged.refused.push_back(refused(docs(), "1", 1));
  acknowledged.gone_routes.push_back({parcels().id, {"1"}, "Ulm", version(2)});
  save(acknowledged);
  finish_jobs();
  EXPECT_EQ(source_->dead_letters().discard({{docs().id}, {}, ""}), 1);
  writer_->insert_thing(4, 0);
  EXPECT_EQ(drain(), (Reported{{"4", 1}}));
  EXPECT_THAT(source_->outbox().differences_from_applied(), IsEmpty());
  world_->age_outbox();
  source_->outbox().prune();
  world_->fill_outbox();
  EXPECT_TRUE(becomes_true([&] { return source_->outbox().resume(); }));
  world().status_writer()->publish({"following", "", "{}"});
}

}  // namespace
}  // namespace lockstep
