// The outbox is emptied behind the checkpoint, never before it, and never at the writers' expense (promise
// 6).
#include <gtest/gtest.h>

#include "replicator/config/config.h"
#include "replicator/source/open_source.h"
#include "tests/support/blog_pipeline.h"
#include "tests/support/eventually.h"

namespace lockstep::support {
namespace {

class Outbox : public BlogTest {
 protected:
  // The leader has writers change to another leaf every ten minutes; here it is done at once.
  void age_the_outbox() {
    execute("select setval('lockstep.outbox_slot', (s.last_value + 1) % 3) from lockstep.outbox_slot as s");
  }

  void prune() {
    const Config config = load_config(pipeline_.configuration());
    const auto source = open_source(config, "test");
    source->outbox().prune();
  }
};

TEST_F(Outbox, RowsThatAreInElasticsearchAreDropped) {
  bring_up();
  execute("update blog.posts set title = title || '.'");
  pipeline_.catch_up();
  age_the_outbox();
  ASSERT_GT(outbox_rows(), 0);
  execute("update blog.posts set title = title || '.' where id = 1");
  // A transaction that is open elsewhere on the server keeps what came after it.
  EXPECT_TRUE(wait_until(
      [&] {
        pipeline_.catch_up();
        prune();
        return outbox_rows() == 1;
      },
      std::chrono::seconds(60)))
      << "only the leaf that writers use now is left, not " << outbox_rows() << " rows";
  EXPECT_TRUE(is_equal());
}

TEST_F(Outbox, RowsThatNobodyHasReadStay) {
  bring_up();
  execute("update blog.posts set title = title || '.'");
  age_the_outbox();
  const auto rows = outbox_rows();
  prune();
  EXPECT_EQ(outbox_rows(), rows);
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

TEST_F(Outbox, RowsThatAnotherPipelineHasNotReadStay) {
  PipelineUnderTest other(database_);
  other.set_name("other");
  other.add_index("again", "search.posts", blog_tracks());
  bring_up();
  other.apply();
  execute("update blog.posts set title = title || '.'");
  pipeline_.catch_up();
  age_the_outbox();
  const auto rows = outbox_rows();
  prune();
  EXPECT_EQ(outbox_rows(), rows);
  other.catch_up();
  EXPECT_EQ(other.difference(), "");
}

TEST_F(Outbox, AWriterThatIsStillInALeafKeepsItAndWaitsForNobody) {
  bring_up();
  execute("update blog.posts set title = title || '.' where id = 1");
  pipeline_.catch_up();
  age_the_outbox();
  const auto writer = database_.connect();
  support::execute(*writer,
                   "begin; insert into lockstep.outbox (capture, keys, slot) select capture, keys, slot from "
                   "lockstep.outbox");
  const auto before = std::chrono::steady_clock::now();
  prune();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s) << "it waited for the writer";
  support::execute(*writer, "commit");
  EXPECT_GT(outbox_rows(), 0);
}

}  // namespace
}  // namespace lockstep::support
