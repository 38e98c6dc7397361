// `status`: what the source knows of a pipeline, asked without leading it.
#include <gmock/gmock.h>

#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

TEST_P(DefinedSourceContract, StatusTellsWhatIsPendingUntilItIsSaved) {
  lead();
  const auto reader = world().status();
  writer_->insert_thing(1, 0);
  writer_->insert_thing(2, 0);
  std::optional<PipelineStatus> status = reader->read();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->identity, source_->pipeline().identity);
  EXPECT_EQ(status->epoch, epoch_);
  EXPECT_EQ(status->pending_rows, 2);
  EXPECT_GE(status->pending_age.count(), 0);
  EXPECT_LT(status->pending_age, std::chrono::minutes(10));
  EXPECT_GT(status->outbox_bytes, 0);
  EXPECT_GT(status->max_outbox_bytes, 0);
  EXPECT_FALSE(status->given_up);
  drain();
  status = reader->read();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->pending_rows, 0);
  EXPECT_EQ(status->pending_age.count(), 0);
  EXPECT_LT(status->checkpoint_age, std::chrono::minutes(10));
}

TEST_P(DefinedSourceContract, StatusTellsWhatTheLeaderLastSaidOfItself) {
  source_ = world_->open();
  const auto reader = world().status();
  std::optional<PipelineStatus> status = reader->read();
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->leader) << "the pipeline has never run";
  const auto writer = world().status_writer();
  EXPECT_FALSE(writer->is_led());
  lead();
  EXPECT_TRUE(writer->is_led());
  EXPECT_TRUE(writer->lock_waits().empty());
  writer->publish({"starting", "", "{}"});
  writer->publish({"following", "a reason", R"({"documents": 17})"});
  status = reader->read();
  ASSERT_TRUE(status);
  ASSERT_TRUE(status->leader);
  EXPECT_EQ(status->leader->state, "following");
  EXPECT_EQ(status->leader->reason, "a reason");
  EXPECT_THAT(status->leader->document, HasSubstr("17"));
  EXPECT_NE(status->leader->host, "");
  EXPECT_GT(status->leader->pid, 0);
  EXPECT_THAT(status->leader->started_at, HasSubstr("T"));
  EXPECT_GE(status->leader->age.count(), 0);
  EXPECT_LT(status->leader->age, std::chrono::minutes(10));
}

TEST_P(DefinedSourceContract, StatusTellsOfEachIndexWhatItsJobsAndDeadLettersAre) {
  lead();
  finish_jobs();
  const std::vector<Job> added = add_job(docs().id, JobKind::kComparison, "somebody asked for it");
  ASSERT_EQ(added.size(), 1U);
  Acknowledged acknowledged;
  acknowledged.jobs.push_back({added[0].id, JobKind::kComparison, AfterDocument{{"3"}}, 3, false});
  acknowledged.refused.push_back(refused(docs(), "1", 1));
  acknowledged.refused.push_back(refused(docs(), "2", 1));
  save(acknowledged);
  {
    const auto transaction = begin();
    transaction->add_repair(docs(), {{{"1"}, ""}, {{"2"}, ""}}, {.reason = "they differ"});
    transaction->set_aside(parcels().id, "its view is gone");
    transaction->commit();
  }
  const std::optional<PipelineStatus> status = world().status()->read();
  ASSERT_TRUE(status);
  ASSERT_EQ(status->indices.size(), 2U);
  const IndexStatus& docs_status = status->indices[0];
  EXPECT_EQ(docs_status.alias, "docs");
  EXPECT_EQ(docs_status.view, docs().view);
  EXPECT_EQ(docs_status.dead_letters, 2);
  ASSERT_EQ(docs_status.refused.size(), 1U);
  EXPECT_EQ(docs_status.refused[0].error, refused(docs(), "1", 1).error_type);
  EXPECT_EQ(docs_status.refused[0].documents, 2);
  EXPECT_EQ(docs_status.set_aside, std::nullopt);
  ASSERT_EQ(docs_status.jobs.size(), 1U);
  EXPECT_EQ(docs_status.jobs[0].kind, "comparison");
  EXPECT_EQ(docs_status.jobs[0].reason, "somebody asked for it");
  EXPECT_EQ(docs_status.jobs[0].done, 3);
  EXPECT_FALSE(docs_status.jobs[0].total) << "nobody has said how many";
  ASSERT_TRUE(docs_status.due);
  EXPECT_EQ(docs_status.due->documents, 2);
  EXPECT_EQ(docs_status.due->changes, 0);
  EXPECT_EQ(docs_status.due->reason, "they differ");
  EXPECT_LT(docs_status.due->oldest_age, std::chrono::minutes(10));
  const IndexStatus& parcels_status = status->indices[1];
  EXPECT_EQ(parcels_status.alias, "parcels");
  EXPECT_EQ(parcels_status.dead_letters, 0);
  EXPECT_TRUE(parcels_status.refused.empty());
  EXPECT_EQ(parcels_status.set_aside, "its view is gone");
  EXPECT_TRUE(parcels_status.jobs.empty());
  EXPECT_FALSE(parcels_status.due);
}

TEST_P(DefinedSourceContract, StatusTellsThatChangesWereLeftOut) {
  lead();
  const auto reader = world().status();
  world_->fill_outbox();
  std::optional<PipelineStatus> status = reader->read();
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->given_up);
  EXPECT_TRUE(becomes_true([&] { return source_->outbox().resume(); }));
  status = reader->read();
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->given_up);
}

TEST_P(DefinedSourceContract, APipelineThatIsNotAppliedHasNoStatus) {
  const auto reader = world().status();
  EXPECT_TRUE(reader->read());
  world().definition(DefinedWorld::Configuration::kApplied)->remove({});
  EXPECT_FALSE(reader->read());
}

}  // namespace
}  // namespace lockstep
