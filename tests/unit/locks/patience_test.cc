#include "replicator/locks/patience.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Error failure(Retry retry) {
  return Error({"asking the server", "it is starting", "", retry, Server::kElasticsearch});
}

/// Fails so often, then answers 17.
class Starting {
 public:
  explicit Starting(int failures, Retry retry = Retry::kLater) : failures_(failures), retry_(retry) {}

  int operator()() {
    if (++tried_ <= failures_) throw failure(retry_);
    return 17;
  }
  int tried() const { return tried_; }

 private:
  const int failures_;
  const Retry retry_;
  int tried_ = 0;
};

std::string message(const Patience& patience, Starting& server) {
  try {
    patience.insist([&] { return server(); });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PatienceTest, AServerThatIsStartingIsAskedAgain) {
  Starting server(2);
  EXPECT_EQ(Patience(hours(1)).insist([&] { return server(); }), 17);
  EXPECT_EQ(server.tried(), 3);
}

TEST(PatienceTest, WhenItIsOverTheErrorSaysForHowLongItWasTried) {
  Starting server(1'000);
  EXPECT_EQ(message(Patience(milliseconds(120)), server),
            "asking the server: it is starting (tried again for 120ms)");
  EXPECT_GT(server.tried(), 1);
}

TEST(PatienceTest, WithoutPatienceTheFirstErrorIsTheAnswer) {
  Starting server(1'000);
  EXPECT_EQ(message(Patience(milliseconds(0)), server), "asking the server: it is starting");
  EXPECT_EQ(server.tried(), 1);
}

TEST(PatienceTest, WhatFailsForGoodIsNotTriedAgain) {
  Starting server(1'000, Retry::kNever);
  EXPECT_EQ(message(Patience(hours(1)), server), "asking the server: it is starting");
  EXPECT_EQ(server.tried(), 1);
}

TEST(PatienceTest, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  Starting server(1'000);
  EXPECT_NE(message(Patience(hours(1), stop.get_token()), server), "");
  EXPECT_EQ(server.tried(), 1);
}

}  // namespace
}  // namespace lockstep
