#include "replicator/cli/text/progress_line.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

TEST(ProgressLineTest, AnUnchangedLineIsPrintedOnce) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line;
    for (const char* text : {"begin", "waits", "waits", "waits", "goes on"}) line.show(text);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "waits\ngoes on\n")
      << "work that ends soon needs no line";
}

TEST(ProgressLineTest, ASentenceTakesTheRowsThatItNeeds) {
  EXPECT_EQ(rows_of("", 80), 1);
  EXPECT_EQ(rows_of(std::string(80, 'x'), 80), 1);
  EXPECT_EQ(rows_of(std::string(81, 'x'), 80), 2);
  EXPECT_EQ(rows_of("ää", 2), 1) << "by characters, not bytes";
}

}  // namespace
}  // namespace lockstep
