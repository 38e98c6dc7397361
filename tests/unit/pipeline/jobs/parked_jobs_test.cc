#include "replicator/pipeline/jobs/parked_jobs.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr IndexId kPosts{1};
using Documents = std::vector<FoundDocument>;

Job job_of(std::int64_t id, std::int64_t documents, const std::string& reason) {
  Job job;
  job.id = {id};
  job.index = kPosts;
  job.kind = JobKind::kFanOut;
  job.total = documents;
  job.reason = reason;
  return job;
}

const Documents kTwo{{{"1"}, ""}, {{"2"}, "Ulm"}};
const std::string kReason = ParkedJobs::reason_for("it was refused");

TEST(ParkedJobs, ADocumentHasNoFurtherJobUntilItsJobBegins) {
  ParkedJobs parked;
  EXPECT_EQ(parked.without_job(kPosts, kTwo), kTwo);
  parked.added({job_of(7, 2, kReason)}, kPosts, kTwo);
  EXPECT_EQ(parked.without_job(kPosts, kTwo), Documents{});
  EXPECT_EQ(parked.without_job({2}, kTwo), kTwo) << "of another index";
  const Documents more{{{"2"}, "Bonn"}, {{"2"}, "Ulm"}, {{"3"}, ""}};
  EXPECT_EQ(parked.without_job(kPosts, more), (Documents{{{"2"}, "Bonn"}, {{"3"}, ""}}));
  parked.begins({7});
  EXPECT_EQ(parked.without_job(kPosts, kTwo), kTwo);
}

TEST(ParkedJobs, WhatOtherJobsWriteIsNotReliedOn) {
  ParkedJobs parked;
  parked.added({job_of(7, 2, "Elasticsearch is slow to write the index")}, kPosts, kTwo);
  EXPECT_EQ(parked.without_job(kPosts, kTwo), kTwo) << "the tail's own job";
  parked.added({job_of(8, 1, kReason)}, kPosts, kTwo);
  EXPECT_EQ(parked.without_job(kPosts, kTwo), kTwo) << "its list lacks what a rendering cannot reach";
}

}  // namespace
}  // namespace lockstep
