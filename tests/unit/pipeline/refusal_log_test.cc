// Personal data stays out of the log, and a thousand refusals are not a thousand lines.
#include "replicator/pipeline/refusal_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DeadLetter letter(IndexId index, int id, const std::string& field) {
  DeadLetter letter;
  letter.index = index;
  letter.id.text = "somebody-" + std::to_string(id) + "@example.org";
  letter.error_type = "mapper_parsing_exception";
  letter.reason = "failed to parse field [" + field +
                  "] of type [long] in document with id 'somebody@example.org'. Preview of field's value: "
                  "'secret': For input string: \"secret\"";
  return letter;
}

class RefusalLogTest : public testing::Test {
 protected:
  const SteadyTime begin_ = std::chrono::steady_clock::now();
  RefusalLog log_{test_pipeline()};
};

TEST_F(RefusalLogTest, EightThousandRefusalsAreTwoLinesWithoutAValue) {
  log_.note({letter(kPosts, 0, "age")});
  EXPECT_THAT(
      log_.due(begin_),
      ElementsAre("index posts: mapper_parsing_exception: failed to parse field [age] of type [long]: a "
                  "document was refused and kept as a dead letter; see `lockstep dead-letters list`"));
  for (int i = 1; i < 8'000; ++i) {
    log_.note({letter(kPosts, i, "age")});
    EXPECT_THAT(log_.due(begin_ + std::chrono::milliseconds(i)), IsEmpty());
  }
  EXPECT_THAT(
      log_.due(begin_ + RefusalLog::kInterval),
      ElementsAre("index posts: mapper_parsing_exception: failed to parse field [age] of type [long]: "
                  "7,999 documents were refused and kept as dead letters; see `lockstep dead-letters list`"));
  EXPECT_THAT(log_.due(begin_ + 2 * RefusalLog::kInterval), IsEmpty());
}

TEST_F(RefusalLogTest, EachKindHasALine) {
  log_.note({letter(kPosts, 1, "age"), letter(kPosts, 1, "size"), letter(kFiles, 1, "age")});
  EXPECT_EQ(log_.due(begin_).size(), 3u);
}

TEST_F(RefusalLogTest, AReasonOfAnUnknownFormIsLeftOut) {
  DeadLetter unknown = letter(kPosts, 1, "age");
  unknown.reason = "the value secret is no good";
  log_.note({unknown});
  EXPECT_THAT(
      log_.due(begin_),
      ElementsAre(
          "index posts: mapper_parsing_exception: a document was refused and kept as a dead letter; see "
          "`lockstep dead-letters list`"));
}

TEST_F(RefusalLogTest, NothingIsKeptBackAtTheEnd) {
  log_.note({letter(kPosts, 1, "age")});
  log_.due(begin_);
  log_.note({letter(kPosts, 2, "age")});
  EXPECT_EQ(log_.rest().size(), 1u);
  EXPECT_THAT(log_.rest(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::fake
