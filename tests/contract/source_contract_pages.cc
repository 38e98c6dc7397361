// A connection on which pages of jobs are read beside the leader's transactions (page_connection.h).
#include <stdexcept>

#include "replicator/error.h"
#include "replicator/source/page_connection.h"
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

class Pages {
 public:
  Pages(Source& source, const AppliedIndex& docs, Epoch epoch)
      : connection_(source.changes().page_connection()), docs_(docs), epoch_(epoch) {
    if (!connection_) throw std::logic_error("the source has no connection for pages");
  }

  PageConnection& connection() { return *connection_; }
  std::unique_ptr<SourceTransaction> begin() { return connection_->begin(epoch_); }

  /// What the page has of a document.
  std::string read(SourceTransaction& page, const std::string& id) const {
    Rendered documents;
    page.render_for({epoch_, 1}, docs_, {{id}}, 1 << 20, documents.sink());
    return documents.json.at(id);
  }

 private:
  const std::unique_ptr<PageConnection> connection_;
  const AppliedIndex& docs_;
  const Epoch epoch_;
};

TEST_P(PagesSourceContract, S3_SnapshotsOfPagesAndOfTheLeaderDoNotGoBack) {
  lead();
  Pages pages(*source_, docs(), epoch_);
  std::string last;
  for (int n = 1; n <= 20; ++n) {
    n == 1 ? writer_->insert_thing(1, n) : writer_->set_n(1, n);
    const auto page = pages.begin();
    page->take_snapshot();
    const std::string seen = step().documents.at("1");
    writer_->set_n(1, n + 100);
    EXPECT_EQ(pages.read(*page, "1"), seen);
    EXPECT_NE(seen, last);
    last = seen;
  }
}

TEST_P(PagesSourceContract, ACancellationHitsNoStatementThatBeginsAfterIt) {
  lead();
  writer_->insert_thing(1, 7);
  for (int i = 0; i < 30; ++i) {
    const auto transaction = begin();
    EXPECT_EQ(transaction->read_changes(position_, {1000}).rows, 1);
    EXPECT_TRUE(source_->changes().cancel_reading());
    Rendered documents;
    transaction->render_for({epoch_, 1}, docs(), {{"1"}}, 1 << 20, documents.sink());
    EXPECT_EQ(documents.json.count("1"), 1U);
  }
}

TEST_P(PagesSourceContract, APageIsReadWhileTheLeaderReadsAndSaves) {
  lead();
  writer_->insert_thing(1, 7);
  Pages pages(*source_, docs(), epoch_);
  const auto page = pages.begin();
  page->take_snapshot();
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  EXPECT_EQ(changes.rows, 1);
  const std::string json = pages.read(*page, "1");
  Acknowledged acknowledged;
  acknowledged.position = changes.next;
  transaction->save(acknowledged);
  transaction->commit();
  EXPECT_EQ(pages.read(*page, "1"), json);
}

TEST_P(PagesSourceContract, S4_WhatAPageSawIsDurableWhenItMayBeShownOrWhenTheLeaderHasCommitted) {
  lead();
  Pages pages(*source_, docs(), epoch_);
  const auto lazy = world_->lazy_writer();
  int may_be_shown = 0;
  for (int i = 1; i <= 40; ++i) {
    if (i % 2 == 0) {
      writer_->insert_thing(i, 0);
    } else {
      lazy->insert_thing(i, 0);
    }
    const auto page = pages.begin();
    page->take_snapshot();
    pages.read(*page, std::to_string(i));
    if (page->may_be_shown()) {
      ++may_be_shown;
    } else {
      begin()->commit();
    }
    EXPECT_TRUE(world_->is_durable());
  }
  EXPECT_GT(may_be_shown, 0);
}

TEST_P(PagesSourceContract, S5_APageThatSeesALaterEpochIsNotShown) {
  lead();
  writer_->insert_thing(1, 7);
  Pages pages(*source_, docs(), epoch_);
  source_->lead().raise_epoch({}, {});
  const auto page = pages.begin();
  page->take_snapshot();
  EXPECT_THROW(page->may_be_shown(), Deposed);
}

TEST_P(PagesSourceContract, APageReadsWhatIsDue) {
  lead();
  writer_->insert_things(1, 5);
  make_due(docs());
  ASSERT_TRUE(finds(docs(), 5));
  Pages pages(*source_, docs(), epoch_);
  const auto page = pages.begin();
  page->take_snapshot();
  const NextDue next = page->next_due(docs().id, {});
  ASSERT_TRUE(next.page);
  EXPECT_EQ(next.page->ids.size(), 5U);
}

TEST_P(PagesSourceContract, ACancelledConnectionReadsNothingMore) {
  lead();
  Pages pages(*source_, docs(), epoch_);
  pages.begin();
  pages.connection().cancel();
  EXPECT_THROW(pages.begin(), Error);
}

}  // namespace
}  // namespace lockstep
