#include "replicator/pipeline/isolation/slow_indices.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

using std::chrono::seconds;

class SlowIndicesTest : public testing::Test {
 protected:
  void add(std::chrono::seconds at) {
    slow_.add(ViewTooSlow({"rendering", "it took long", "", Retry::kLater}, kPosts), begin_ + at);
  }
  Job job(int id, IndexId index) const {
    Job job;
    job.id = JobId{id};
    job.index = index;
    return job;
  }
  bool is_slow(std::chrono::seconds at) {
    slow_.release(begin_ + at, [this](JobId job) { return unfinished_.contains(job); });
    return slow_.contains(kPosts);
  }

  static constexpr IndexId kPosts{1};
  static constexpr IndexId kOthers{2};
  const SteadyTime begin_{std::chrono::hours(1)};
  const AppliedPipeline pipeline_{.indices = {{.id = kPosts, .alias = "posts", .view = ""},
                                              {.id = kOthers, .alias = "others", .view = ""}}};
  SlowIndices slow_{pipeline_};
  std::set<JobId> unfinished_;
};

TEST_F(SlowIndicesTest, TheTailComesBackWhenItsFirstJobIsDone) {
  add(seconds(0));
  EXPECT_TRUE(slow_.contains(kPosts));
  EXPECT_FALSE(slow_.contains(kOthers));
  EXPECT_EQ(slow_.reason(kPosts), "rendering: it took long");
  EXPECT_EQ(slow_.reason(kOthers), "");
  unfinished_ = {JobId{3}, JobId{4}, JobId{5}};
  slow_.note_job(job(3, kOthers));
  slow_.note_job(job(4, kPosts));
  slow_.note_job(job(5, kPosts));
  EXPECT_TRUE(is_slow(seconds(600)));
  unfinished_.erase(JobId{4});
  EXPECT_FALSE(is_slow(seconds(600))) << "later jobs go on beside it";
}

TEST_F(SlowIndicesTest, ItStaysAwayForAWhileAndLongerEachTimeThatItCameBackInVain) {
  add(seconds(0));
  EXPECT_TRUE(is_slow(seconds(4)));
  EXPECT_FALSE(is_slow(seconds(5)));
  add(seconds(6));
  EXPECT_TRUE(is_slow(seconds(15)));
  EXPECT_FALSE(is_slow(seconds(16)));
  add(seconds(17));
  EXPECT_TRUE(is_slow(seconds(36)));
  EXPECT_FALSE(is_slow(seconds(37)));
  add(seconds(37) + SlowIndices::kLongestPause);
  EXPECT_FALSE(is_slow(seconds(42) + SlowIndices::kLongestPause)) << "that was long ago";
}

}  // namespace
}  // namespace lockstep
