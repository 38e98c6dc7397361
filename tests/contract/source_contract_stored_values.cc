// Stored values that cannot be, which something else has written: they are named, and stop what they belong
// to.
#include <gmock/gmock.h>

#include <functional>

#include "replicator/error.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST_P(DefinedSourceContract, ANullInTheCheckpointIsNamedByWhoeverReadsIt) {
  lead();
  const auto named = [](const std::string& column) {
    return AllOf(HasSubstr("table checkpoint"), HasSubstr("column " + column + " is null"));
  };
  world().plant_null("checkpoint", "epoch");
  EXPECT_THAT(error_of([&] { source_->lead().epoch(); }), named("epoch"));
  EXPECT_THAT(error_of([&] { begin()->may_be_shown(); }), named("epoch"));
  EXPECT_THAT(error_of([&] { world().status()->read(); }), named("epoch"));
  lead();  // a new epoch
  world().plant_null("checkpoint", "last_id");
  EXPECT_THAT(error_of([&] { source_->changes().checkpoint(); }), named("last_id"));
  EXPECT_THAT(error_of([&] { world().status()->read(); }), named("last_id"));
  EXPECT_THAT(error_of([&] { world().watch()->begin(std::nullopt)->look(); }), named("last_id"));
}

TEST_P(DefinedSourceContract, AMigrationNumberedZeroIsNamed) {
  world().plant_migration(0);
  const auto named = AllOf(HasSubstr("table of migrations"), HasSubstr("its number is 0, not 1"));
  EXPECT_THAT(error_of([&] { world_->open(); }), named);
  EXPECT_THAT(error_of([&] { world().watch(); }), named);
  EXPECT_THAT(error_of([&] { world().status()->read(); }), named);
  EXPECT_THAT(error_of([&] { world().definition(DefinedWorld::Configuration::kApplied)->plan(); }), named);
}

TEST_P(DefinedSourceContract, ANullInAnIndexIsNamedByWhoeverReadsIt) {
  world().plant_null("index", "fields");
  const auto named = AllOf(HasSubstr("table index"), HasSubstr("column fields is null"));
  EXPECT_THAT(error_of([&] { world_->open(); }), named);
  EXPECT_THAT(error_of([&] { world().definition(DefinedWorld::Configuration::kApplied)->plan(); }), named);
  world().status_writer()->publish({"stopped", "fields is null", "{}"});
  const std::optional<PipelineStatus> status = world().status()->read();
  ASSERT_TRUE(status && status->leader);
  EXPECT_EQ(status->leader->reason, "fields is null") << "it needs no fields";
}

TEST_P(DefinedSourceContract, AnIdOfAnUnknownTypeIsNamed) {
  world().plant_text("index", "id_type", "money");
  EXPECT_THAT(error_of([&] { world_->open(); }), AllOf(HasSubstr("id_type"), HasSubstr("\"money\"")));
}

TEST_P(DefinedSourceContract, APartnerWithoutItsPlaceIsNamedAndNotTakenForNobody) {
  lead();
  world().plant_text("checkpoint", "partners", "{}");
  EXPECT_EQ(source_->lead().known_partners().place, "") << "nobody has led";
  world().plant_text("checkpoint", "partners", R"({"quiet": true, "targets": {}})");
  EXPECT_THAT(error_of([&] { source_->lead().known_partners(); }), HasSubstr("partners"));
}

TEST_P(DefinedSourceContract, ANullInAJobStopsNoOtherJob) {
  lead();
  const std::size_t before = source_->changes().jobs().readable.size();
  ASSERT_GT(before, 0U);
  world().plant_job("sweep", "");
  world().plant_null("job", "kind");
  const UnfinishedJobs jobs = source_->changes().jobs();
  EXPECT_EQ(jobs.unreadable.size(), before + 1);
  EXPECT_THAT(jobs.unreadable.at(0).why, HasSubstr("it has no kind"));
}

TEST_P(DefinedSourceContract, StatusShowsTheWordOfAJobThatNobodyCanRead) {
  lead();
  finish_jobs();
  world().plant_job("rebuild", "");
  const std::optional<PipelineStatus> status = world().status()->read();
  ASSERT_TRUE(status);
  ASSERT_EQ(status->indices.size(), 2U);
  ASSERT_EQ(status->indices[0].jobs.size(), 1U);
  const IndexStatus::Job& job = status->indices[0].jobs[0];
  EXPECT_EQ(job.kind, "rebuild");
  EXPECT_EQ(job.reason, "planted");
  EXPECT_THAT(job.unreadable, HasSubstr("its kind is \"rebuild\""));
}

TEST_P(DefinedSourceContract, RowsOfTheOutboxThatNoTriggerWroteAreTold) {
  lead();
  position_ = source_->changes().checkpoint();
  EXPECT_THAT(step().changes.unknown_captures, IsEmpty());
  world().plant_outbox_rows(CaptureId{4711}, 1);
  writer_->insert_thing(1, 0);
  EXPECT_THAT(step().changes.unknown_captures, ElementsAre(CaptureId{4711}));
}

TEST_P(DefinedSourceContract, RowsInALargeTransactionThatNoTriggerWroteAreTold) {
  lead();
  drain();
  world().plant_outbox_rows(CaptureId{4711}, 60);
  const SteppedOver over = step_over({10, 50});
  ASSERT_EQ(over.due.size(), 1U);
  std::optional<FoundDue> found;
  ASSERT_TRUE(becomes_true([&] {
    found = source_->changes().find_due(docs());
    return found.has_value();
  }));
  EXPECT_EQ(found->documents, 0);
  EXPECT_THAT(found->unknown_captures, ElementsAre(CaptureId{4711}));
}

TEST_P(DefinedSourceContract, ARowOfAnIndexThatNobodyHasIsTold) {
  lead();
  EXPECT_THAT(source_->outbox().differences_from_applied(), IsEmpty());
  world().plant_rows_of_index(IndexId{4711});
  EXPECT_THAT(source_->outbox().differences_from_applied(),
              AllOf(Contains(AllOf(HasSubstr("table set_aside"), HasSubstr("index 4711"))),
                    Contains(AllOf(HasSubstr("table dead_letter"), HasSubstr("index 4711"))),
                    Contains(AllOf(HasSubstr("job "), HasSubstr("index 4711")))));
}

}  // namespace
}  // namespace lockstep
