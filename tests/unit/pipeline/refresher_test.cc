// replication.refresh = "after_batch": what is acknowledged is searchable (W3), and refreshes do not pile up.
#include "replicator/pipeline/refresher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

using testing::ElementsAre;

/// Refreshes wait until they are let through.
class Gate {
 public:
  explicit Gate(Elasticsearch& elasticsearch) {
    elasticsearch.intercept([this](const HttpRequest& request) -> std::optional<HttpResponse> {
      if (!request.path.ends_with("/_refresh")) return std::nullopt;
      std::unique_lock lock(mutex_);
      paths_.push_back(request.path);
      changed_.notify_all();
      changed_.wait_for(lock, std::chrono::seconds(20), [this] { return permits_ > 0; });
      --permits_;
      return HttpResponse{status_, "{}"};
    });
  }

  void let_through(int refreshes, int status = 200) {
    const std::lock_guard lock(mutex_);
    permits_ += refreshes;
    status_ = status;
    changed_.notify_all();
  }

  bool await(std::size_t refreshes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return paths_.size() >= refreshes; });
  }

  std::vector<std::string> paths() {
    const std::lock_guard lock(mutex_);
    return paths_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> paths_;
  int permits_ = 0;
  int status_ = 200;
};

class RefresherTest : public testing::Test {
 protected:
  RefresherTest() { leader_.writer.refresh_with(refresher_); }
  ~RefresherTest() override { gate_.let_through(1'000); }

  StepDocuments post(const std::string& id) {
    StepDocuments documents(leader_.versions.epoch(), leader_.number(), 100'000);
    documents.add(world_.posts(), {id, "", "{}", {}});
    return documents;
  }

  void submit(Lane lane, StepDocuments documents, StepEnd end) {
    leader_.writer.submit(lane, std::move(documents), std::move(end));
  }
  void submit_to_tail(const std::string& id, const std::string& position) {
    StepEnd end;
    end.position = Position{position};
    submit(Lane::tail(), post(id), std::move(end));
  }

  /// Takes outcomes until the bulks are done and `condition` holds.
  bool reaches(const std::function<bool()>& condition) {
    return eventually([&] {
      leader_.writer.take_outcomes(std::chrono::milliseconds(1));
      return leader_.writer.requests_in_flight() == 0 && condition();
    });
  }

  World world_;
  Gate gate_{world_.elasticsearch};
  Leader leader_{world_};
  Refresher refresher_{world_.pipeline, world_.elasticsearch.transports()(), std::chrono::seconds(20), [] {}};
};

TEST_F(RefresherTest, ABatchIsAcknowledgedWhenItIsSearchable) {
  submit_to_tail("1", "1");
  ASSERT_TRUE(reaches([&] { return gate_.await(1); }));
  EXPECT_FALSE(leader_.writer.has_news());
  EXPECT_FALSE(leader_.writer.idle());
  gate_.let_through(1);
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  EXPECT_EQ(leader_.writer.take_acknowledged().position, Position{"1"});
  EXPECT_THAT(gate_.paths(), ElementsAre("/posts/_refresh"));
}

TEST_F(RefresherTest, WhatComesDuringARefreshSharesTheNext) {
  submit_to_tail("1", "1");
  ASSERT_TRUE(reaches([&] { return gate_.await(1); }));
  submit_to_tail("2", "2");
  submit_to_tail("3", "3");
  StepDocuments file(leader_.versions.epoch(), leader_.number(), 100'000);
  file.add(world_.files(), {"f", "r", "{}", {}});
  StepEnd end;
  end.position = Position{"4"};
  submit(Lane::tail(), std::move(file), std::move(end));
  ASSERT_TRUE(reaches([&] { return leader_.writer.requests_in_flight() == 0; }))
      << "batches are written while a refresh is on its way";
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  gate_.let_through(1);
  ASSERT_TRUE(reaches([&] { return leader_.writer.has_news(); }));
  EXPECT_EQ(leader_.writer.take_acknowledged().position, Position{"1"});
  gate_.let_through(1);
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  EXPECT_EQ(leader_.writer.take_acknowledged().position, Position{"4"});
  EXPECT_THAT(gate_.paths(), ElementsAre("/posts/_refresh", "/posts,files/_refresh"));
}

TEST_F(RefresherTest, AJobIsRefreshedAtItsEnd) {
  const Lane lane = Lane::of(JobId{7});
  StepEnd first;
  first.progress = JobProgress{JobId{7}, JobKind::kBackfill, AfterDocument{{"1"}}, 1, false};
  StepEnd last;
  last.progress = JobProgress{JobId{7}, JobKind::kBackfill, AfterDocument{{"1"}}, 0, true};
  submit(lane, post("1"), std::move(first));
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  EXPECT_TRUE(gate_.paths().empty());
  world_.elasticsearch.hold();
  StepEnd second;
  second.progress = JobProgress{JobId{7}, JobKind::kBackfill, AfterDocument{{"2"}}, 1, false};
  submit(lane, post("2"), std::move(second));
  StepDocuments nothing(leader_.versions.epoch(), leader_.number(), 100'000);
  submit(lane, std::move(nothing), std::move(last));
  world_.elasticsearch.await_held(1);
  leader_.writer.take_outcomes(std::chrono::milliseconds(0));
  EXPECT_TRUE(gate_.paths().empty()) << "a page of the job is still on its way";
  world_.elasticsearch.release();
  ASSERT_TRUE(reaches([&] { return gate_.paths().size() == 1; }));
  gate_.let_through(1);
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  const Acknowledged news = leader_.writer.take_acknowledged();
  ASSERT_EQ(news.jobs.size(), 1U);
  EXPECT_TRUE(news.jobs[0].finished);
  EXPECT_THAT(gate_.paths(), ElementsAre("/posts/_refresh"));
}

TEST_F(RefresherTest, ARefreshThatFailsIsTriedAgain) {
  submit_to_tail("1", "1");
  ASSERT_TRUE(reaches([&] { return gate_.await(1); }));
  gate_.let_through(1, 503);
  ASSERT_TRUE(gate_.await(2));
  EXPECT_FALSE(leader_.writer.has_news());
  gate_.let_through(1, 200);
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  EXPECT_TRUE(leader_.writer.has_news());
}

TEST_F(RefresherTest, ARefreshThatCannotWorkHoldsNothingUp) {
  submit_to_tail("1", "1");
  gate_.let_through(1, 404);
  ASSERT_TRUE(reaches([&] { return leader_.writer.idle(); }));
  EXPECT_EQ(leader_.writer.take_acknowledged().position, Position{"1"});
}

TEST_F(RefresherTest, ABatchWithoutDocumentsNeedsNone) {
  StepDocuments nothing(leader_.versions.epoch(), leader_.number(), 100'000);
  StepEnd end;
  end.position = Position{"3"};
  submit(Lane::tail(), std::move(nothing), std::move(end));
  EXPECT_EQ(leader_.writer.take_acknowledged().position, Position{"3"});
  EXPECT_TRUE(gate_.paths().empty());
}

}  // namespace
}  // namespace lockstep::fake
