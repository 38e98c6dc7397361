// What Elasticsearch is shown survives a crash of the source (S4).
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

TEST_P(SourceContract, S4_WhatWasSeenIsDurableAfterASaveIsCommitted) {
  lead();
  const auto lazy = world_->lazy_writer();
  for (int i = 1; i <= 20; ++i) {
    lazy->insert_thing(i, 0);
    EXPECT_EQ(step().documents.size(), 1U);
    EXPECT_TRUE(world_->is_durable());
  }
}

TEST_P(SourceContract, S4_WhatMayBeShownWithoutACommitIsDurable) {
  lead();
  const auto lazy = world_->lazy_writer();
  int may_be_shown = 0;
  for (int i = 1; i <= 100; ++i) {
    if (i % 2 == 0) {
      writer_->insert_thing(i, 0);
    } else {
      lazy->insert_thing(i, 0);
    }
    const auto transaction = begin();
    EXPECT_EQ(transaction->read_changes(position_, {1000}).rows, i);
    if (!transaction->may_be_shown()) continue;
    ++may_be_shown;
    EXPECT_TRUE(world_->is_durable());
  }
  EXPECT_GT(may_be_shown, 0);
}

TEST_P(SourceContract, S4_WhatWasWrittenNeedsACommit) {
  lead();
  writer_->insert_thing(1, 0);
  EXPECT_EQ(begin()->read_changes(position_, {1000}).rows, 1);
  const auto transaction = begin();
  transaction->read_changes(position_, {1000});
  transaction->add_job(docs().id, JobKind::kComparison, "a test");
  EXPECT_FALSE(transaction->may_be_shown());
}

TEST_P(SourceContract, S4_ARecordedRoutingNeedsACommit) {
  lead();
  writer_->insert_town(1, "Ulm");
  writer_->insert_parcel(1, 1);
  const auto transaction = begin();
  Rendered documents;
  transaction->render_for(version(1), parcels(), {{"1"}}, 1 << 20, documents.sink());
  EXPECT_EQ(documents.routing.at("1"), "Ulm");
  EXPECT_FALSE(transaction->may_be_shown());
}

}  // namespace
}  // namespace lockstep
