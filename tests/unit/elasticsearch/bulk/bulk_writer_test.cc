#include "replicator/elasticsearch/bulk/bulk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "replicator/log/log.h"
#include "tests/unit/elasticsearch/bulk_endpoint.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kDeadline{20};

/// Answers requests with a function that all transports share.
class FunctionTransport final : public HttpTransport {
 public:
  using Answer = std::function<HttpResponse(const HttpRequest&)>;
  explicit FunctionTransport(Answer answer) : answer_(std::move(answer)) {}
  HttpResponse perform(const HttpRequest& request) override {
    if (cancelled_) throw TransportError("cancelled", false);
    return answer_(request);
  }
  void cancel() override { cancelled_ = true; }

 private:
  const Answer answer_;
  std::atomic<bool> cancelled_ = false;
};

BulkWriter::TransportFactory answering(FunctionTransport::Answer answer) {
  return [answer = std::move(answer)] { return std::make_unique<FunctionTransport>(answer); };
}

BulkWriter::Options quick_options(int bulks_in_flight = 1) {
  BulkWriter::Options options;
  options.bulks_in_flight = bulks_in_flight;
  options.backoff = {milliseconds(1), milliseconds(5)};
  return options;
}

BulkRequest bulk_of(const std::string& prefix, std::size_t items) {
  BulkRequest request;
  for (std::size_t i = 0; i < items; ++i) {
    request.index("posts", {1, prefix + std::to_string(i), ""}, DocumentVersion(Epoch{1}, 5), "{}");
  }
  return request;
}

/// The results of so many requests, and of their parts.
std::vector<BulkResult> take_all(BulkWriter& writer, int requests) {
  std::vector<BulkResult> results;
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (requests > 0 && std::chrono::steady_clock::now() < end) {
    for (BulkResult& result : writer.take(milliseconds(100))) {
      if (result.is_last) --requests;
      if (!result.request.empty()) results.push_back(std::move(result));
    }
  }
  return results;
}

void add_unwritten(const BulkResult& result, std::set<std::string>& ids) {
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    if (result.outcomes[i] != Outcome::kApplied) ids.insert(result.request.items()[i].key.id.text);
  }
}

/// Until it is said that all of it has been refused again and again.
bool is_repeated(BulkWriter& writer, std::uint64_t ticket) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (std::chrono::steady_clock::now() < end) {
    for (const BulkResult& result : writer.take(milliseconds(100))) {
      if (result.ticket == ticket) return !result.is_last && result.request.empty();
    }
  }
  return false;
}

bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A door that requests wait behind.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    opened_.wait(lock, [this] { return open_; });
  }
  int waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST(BulkWriter, SendsBulksThatNeverCreateAnIndexAndReportsThem) {
  BulkEndpoint endpoint;
  std::string path;
  std::string content_type;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      path = request.path;
                      content_type = request.content_type;
                      return {200, endpoint.apply(request.body)};
                    }));
  EXPECT_TRUE(writer.has_room());
  const std::uint64_t ticket = writer.submit(bulk_of("a", 3));
  const std::vector<BulkResult> results = take_all(writer, 1);

  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].ticket, ticket);
  EXPECT_EQ(results[0].request.items().size(), 3u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(3, Outcome::kApplied));
  EXPECT_GT(results[0].took.count(), 0);
  EXPECT_EQ(writer.outstanding(), 0u);
  EXPECT_NE(path.find("require_alias=true"), std::string::npos);
  EXPECT_EQ(content_type, "application/x-ndjson");
  EXPECT_EQ(endpoint.documents().size(), 3u);
}

TEST(BulkWriter, RepeatsOnlyWhatHasNoOutcomeUntilAllHaveOne) {
  BulkEndpoint endpoint;
  std::map<std::string, int> tries;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      return {200, endpoint.apply(request.body, [&](const std::string& id) {
                                const int number = ++tries[id];
                                if (id == "a0") return number < 4 ? 429 : 0;
                                return id == "a1" ? 400 : id == "a2" ? 409 : 0;
                              })};
                    }));
  writer.submit(bulk_of("a", 4));
  const std::vector<BulkResult> results = take_all(writer, 1);

  ASSERT_EQ(results.size(), 2u);
  EXPECT_FALSE(results[0].is_last);
  EXPECT_EQ(results[0].outcomes,
            (std::vector<Outcome>{Outcome::kRefused, Outcome::kSuperseded, Outcome::kApplied}));
  EXPECT_TRUE(results[1].is_last);
  EXPECT_EQ(results[1].outcomes, std::vector<Outcome>{Outcome::kApplied});
  EXPECT_EQ(tries, (std::map<std::string, int>{{"a0", 4}, {"a1", 1}, {"a2", 1}, {"a3", 1}}));
  EXPECT_EQ(writer.state().retries, 3u);
  EXPECT_FALSE(writer.state().waiting);
}

// Nothing failed, so nothing said why changes waited.
TEST(BulkWriter, NamesARequestThatHasNoAnswerForLong) {
  BulkEndpoint endpoint;
  std::latch go_on{1};
  BulkWriter::Options options = quick_options();
  options.long_request = seconds(1);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      go_on.wait();
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 2));
  EXPECT_EQ(writer.state().unanswered, "");
  EXPECT_TRUE(wait_until([&] { return !writer.state().unanswered.empty(); }));
  EXPECT_EQ(writer.state().unanswered,
            "Elasticsearch has not answered a request of 2 writes of index posts, for more than 1 "
            "seconds");
  go_on.count_down();
  ASSERT_EQ(take_all(writer, 1).size(), 1u);
  EXPECT_EQ(writer.state().unanswered, "");
}

// It said "it is not certain that this process still leads" instead, after 25 seconds.
TEST(BulkWriter, GoesOnSayingWhatTheServerDidWhenItMayNotSendAnyMore) {
  std::atomic<bool> may_send = true;
  BulkWriter::Options options = quick_options();
  options.may_send = [&] { return may_send.load(); };
  BulkWriter writer(options, answering([](const HttpRequest&) -> HttpResponse {
                      throw TransportError("http://es1:9200: connection refused", false);
                    }));
  writer.submit(bulk_of("a", 1));
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > 1; }));
  may_send = false;
  const std::uint64_t retries = writer.state().retries;
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > retries + 2; }));
  EXPECT_EQ(writer.state().reason, "http://es1:9200: connection refused");
}

TEST(BulkWriter, SaysWhyItWaitsAndWhenItNoLongerDoes) {
  BulkEndpoint endpoint;
  std::atomic<bool> up = false;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      if (!up) return {503, "<html>away</html>", "http://es1:9200"};
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 2));
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > 3; }));
  const BulkWriterState state = writer.state();
  EXPECT_TRUE(state.waiting);
  EXPECT_EQ(state.in_flight, 1);
  EXPECT_EQ(state.reason, "http://es1:9200: HTTP 503: 17 bytes of HTML instead of an error of Elasticsearch");
  up = true;
  ASSERT_EQ(take_all(writer, 1).size(), 1u);
  EXPECT_FALSE(writer.state().waiting);
  EXPECT_EQ(writer.state().reason, "");
}

// The log had "429" alone, while a proxy's page answered for an hour.
TEST(BulkWriter, AnOutageThatBecomesAnotherOneIsLoggedAgain) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kText, "info");
  BulkEndpoint endpoint;
  std::atomic<int> status = 429;
  {
    BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                        if (status != 200) return {status, "<html>no</html>", "http://es1:9200"};
                        return {200, endpoint.apply(request.body)};
                      }));
    writer.submit(bulk_of("a", 2));
    for (const int next : {503, 200}) {
      const std::uint64_t retries = writer.state().retries;
      ASSERT_TRUE(wait_until([&] { return writer.state().retries > retries + 3; }));
      status = next;
    }
    ASSERT_EQ(take_all(writer, 1).size(), 1u);
  }
  start_logging(LogFormat::kText, "error");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::ContainsRegex("HTTP 429[^\n]*\n[^\n]*HTTP 503[^\n]*\n[^\n]*takes documents again"));
}

TEST(BulkWriter, NothingIsSentBeforeItMay) {
  BulkEndpoint endpoint;
  std::atomic<int> requests = 0;
  std::atomic<int> questions = 0;
  BulkWriter::Options options = quick_options();
  options.may_send = [&] { return ++questions > 3; };
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      EXPECT_GT(questions, 3);
                      ++requests;
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 3));
  EXPECT_EQ(take_all(writer, 1).size(), 1u);
  EXPECT_EQ(requests, 1);
}

TEST(BulkWriter, ALostReplyIsAskedForAgainAndTheSameVersionIsApplied) {
  BulkEndpoint endpoint;
  std::atomic<int> requests = 0;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      const std::string reply = endpoint.apply(request.body);
                      if (++requests == 1) throw TransportError("cut off", true);
                      return {200, reply};
                    }));
  writer.submit(bulk_of("a", 2));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(2, Outcome::kApplied));
  EXPECT_EQ(endpoint.documents().at("a0").writes, 2);
}

TEST(BulkWriter, AnyExceptionOfTheTransportIsARetry) {
  BulkEndpoint endpoint;
  std::atomic<int> requests = 0;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      if (++requests == 1) throw std::runtime_error("unexpected");
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 1));
  EXPECT_EQ(take_all(writer, 1).size(), 1u);
}

TEST(BulkWriter, HasAsManyInFlightAsAllowedAndNoMore) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(quick_options(2), answering([&](const HttpRequest& request) -> HttpResponse {
                      gate.wait();
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 1));
  EXPECT_TRUE(writer.has_room());
  writer.submit(bulk_of("b", 1));
  EXPECT_FALSE(writer.has_room());
  ASSERT_TRUE(wait_until([&] { return gate.waiting() == 2; }));
  EXPECT_EQ(writer.outstanding(), 2u);
  EXPECT_TRUE(writer.take(milliseconds(0)).empty());

  std::thread opener([&] { gate.open(); });
  writer.submit(bulk_of("c", 1));  // waits for room
  opener.join();
  std::set<std::uint64_t> tickets;
  for (const BulkResult& result : take_all(writer, 3)) tickets.insert(result.ticket);
  EXPECT_EQ(tickets, (std::set<std::uint64_t>{1, 2, 3}));
}

// Else the gate is opened, since a writer ends with its requests.
bool gets_room(const BulkWriter& writer, Gate& gate) {
  const bool has_room = wait_until([&] { return writer.has_room(); });
  if (!has_room) gate.open();
  return has_room;
}

/// Takes everything, what has `word` in it only when the gate is open.
BulkWriter::TransportFactory waiting_at(Gate& gate, BulkEndpoint& endpoint, const std::string& word) {
  return answering([&gate, &endpoint, word](const HttpRequest& request) -> HttpResponse {
    if (request.body.find(word) != std::string_view::npos) gate.wait();
    return {200, endpoint.apply(request.body)};
  });
}

// Beside a large change a small one waited for the reply to the one before it.
TEST(BulkWriter, ABackgroundRequestThatWaitsForTheWireGivesItsPlaceToOthers) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(quick_options(2), waiting_at(gate, endpoint, "large"));
  writer.limit_background(1);
  writer.submit(bulk_of("large1", 1), BulkWriter::Priority::kBackground);
  writer.submit(bulk_of("large2", 1), BulkWriter::Priority::kBackground);
  ASSERT_TRUE(gets_room(writer, gate));
  const std::uint64_t small = writer.submit(bulk_of("small", 1));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].ticket, small);
  EXPECT_EQ(gate.waiting(), 1);
  gate.open();
  EXPECT_EQ(take_all(writer, 2).size(), 2u);
}

BulkRequest bulk_of_index(IndexId index, const std::string& id) {
  BulkRequest request;
  request.index("posts", {index, DocumentId{id}, ""}, DocumentVersion(Epoch{1}, 5), "{}");
  return request;
}

/// A request takes long after so little.
BulkWriter::Options options_of_slow_indices(std::size_t indices) {
  BulkWriter::Options options = quick_options(2);
  options.indices = indices;
  options.slow_request = milliseconds(50);
  return options;
}

// Three small changes of one slow index stopped all others.
TEST(BulkWriter, RequestsOfASlowIndexGiveTheirPlacesToOthers) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(options_of_slow_indices(2), waiting_at(gate, endpoint, "slow"));
  writer.submit(bulk_of_index({1}, "slow1"));
  writer.submit(bulk_of_index({1}, "slow2"));
  EXPECT_FALSE(writer.has_room());
  ASSERT_TRUE(gets_room(writer, gate));
  EXPECT_TRUE(writer.is_slow({1}));
  EXPECT_FALSE(writer.has_place_for_slow()) << "the rest is for the others";
  const std::uint64_t quick = writer.submit(bulk_of_index({2}, "quick"));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].ticket, quick);
  EXPECT_EQ(gate.waiting(), 2);
  gate.open();
  EXPECT_EQ(take_all(writer, 2).size(), 2u);
}

// With three slow indices the fourth one waited for a minute: each had its three requests out before it was
// known to be slow.
TEST(BulkWriter, HoweverManyIndicesAreSlowAQuickOneHasItsPlaces) {
  constexpr int kSlowIndices = 5;
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(options_of_slow_indices(kSlowIndices + 1), waiting_at(gate, endpoint, "slow"));
  for (int index = 1; index <= kSlowIndices; ++index) {
    for (const char* id : {"slow1", "slow2"}) {
      ASSERT_TRUE(wait_until([&] { return writer.has_room(); })) << "index " << index;
      writer.submit(bulk_of_index({index}, id));
    }
  }
  ASSERT_TRUE(wait_until([&] { return writer.has_room(); }));
  const std::uint64_t quick = writer.submit(bulk_of_index({kSlowIndices + 1}, "quick"));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].ticket, quick);
  gate.open();
  EXPECT_EQ(take_all(writer, 2 * kSlowIndices).size(), 2u * kSlowIndices);
}

// The window of all was halved by what one refused: the places of slow indices were not given any more.
TEST(BulkWriter, AnIndexThatIsBusyKeepsNoPlaceOfASlowOneFromTheOthers) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(options_of_slow_indices(3), answering([&](const HttpRequest& request) -> HttpResponse {
                      if (request.body.find("busy") != std::string_view::npos) return {429, "{}"};
                      if (request.body.find("slow") != std::string_view::npos) gate.wait();
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of_index({1}, "busy"));
  ASSERT_TRUE(wait_until([&] { return writer.state().most_in_flight == 1; }));
  writer.submit(bulk_of_index({2}, "slow"));
  ASSERT_TRUE(wait_until([&] { return writer.is_slow({2}); }));
  const std::uint64_t quick = writer.submit(bulk_of_index({3}, "quick"));
  bool is_written = false;
  EXPECT_TRUE(wait_until([&] {
    for (const BulkResult& result : writer.take(milliseconds(10)))
      is_written = is_written || (result.ticket == quick && result.is_last);
    return is_written;
  }));
  gate.open();
}

// An index that was slow for a moment waited until documents of another one had become dead letters.
TEST(BulkWriter, RequestsThatAreRefusedAgainAndAgainLeaveThePlacesOfSlowIndices) {
  BulkWriter::Options options = quick_options(2);
  options.indices = 2;
  BulkWriter writer(options, answering([](const HttpRequest&) -> HttpResponse { return {429, "{}"}; }));
  writer.submit(bulk_of_index({1}, "a"));
  writer.submit(bulk_of_index({1}, "b"));
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > 10; }));
  EXPECT_TRUE(writer.has_place_for_slow());
}

TEST(BulkWriter, WhoWaitsForRoomFindsWhatASlowRequestGives) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter::Options options = quick_options(1);
  options.indices = 2;
  options.slow_request = milliseconds(50);
  BulkWriter writer(options, waiting_at(gate, endpoint, "slow"));
  writer.submit(bulk_of_index({1}, "slow"));
  auto submitted = std::async(std::launch::async, [&] { return writer.submit(bulk_of_index({2}, "quick")); });
  EXPECT_EQ(submitted.wait_for(kDeadline), std::future_status::ready);
  gate.open();
  EXPECT_EQ(take_all(writer, 2).size(), 2u);
}

TEST(BulkWriter, AClusterThatIsSlowAsAWholeGetsNoMoreRequests) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter::Options options = quick_options(2);
  options.indices = 2;
  options.slow_request = milliseconds(10);
  options.long_request = milliseconds(200);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      gate.wait();
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of_index({1}, "a"));
  writer.submit(bulk_of_index({2}, "b"));
  ASSERT_TRUE(wait_until([&] { return !writer.state().unanswered.empty(); }));
  ASSERT_TRUE(wait_until([&] { return !writer.has_room(); }));
  EXPECT_FALSE(writer.is_slow({1}));
  gate.open();
  EXPECT_EQ(take_all(writer, 2).size(), 2u);
}

TEST(BulkWriter, OverloadLetsFewerOnTheWireUntilItIsOver) {
  BulkEndpoint endpoint;
  std::atomic<int> on_the_wire = 0;
  std::atomic<int> most = 1;  // that the server takes at once
  BulkWriter writer(quick_options(4), answering([&](const HttpRequest& request) -> HttpResponse {
                      const bool overloaded = ++on_the_wire > most;
                      if (!overloaded) std::this_thread::sleep_for(milliseconds(2));
                      --on_the_wire;
                      if (overloaded) return {429, "{}"};
                      return {200, endpoint.apply(request.body)};
                    }));
  EXPECT_EQ(writer.state().most_in_flight, 4);
  const auto send = [&](const std::string& prefix) {
    for (int i = 0; i < 60; ++i) writer.submit(bulk_of(prefix + std::to_string(i) + "-", 1));
    EXPECT_EQ(take_all(writer, 60).size(), 60u);
  };
  send("a");
  EXPECT_LT(writer.state().most_in_flight, 4);
  EXPECT_GT(writer.state().retries, 0u);
  most = 4;
  send("b");
  EXPECT_EQ(writer.state().most_in_flight, 4);
  EXPECT_EQ(endpoint.documents().size(), 120u);
}

TEST(BulkWriter, ALimitOfTheServerIsRunIntoOnce) {
  BulkEndpoint endpoint;
  std::atomic<int> refused = 0;
  BulkWriter::Options options = quick_options();
  options.bulk_bytes = 1'000'000;
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      if (request.body.size() > 600'000) return ++refused, HttpResponse{413, ""};
                      return {200, endpoint.apply(request.body)};
                    }));
  for (int i = 0; i < 5; ++i) {
    BulkRequest request;
    for (int j = 0; j < 100; ++j) {
      request.index("posts", {1, std::to_string(i * 100 + j), ""}, DocumentVersion(Epoch{1}, 5),
                    '{' + std::string(10'000, ' ') + '}');
    }
    writer.submit(std::move(request));
    EXPECT_EQ(take_all(writer, 1).size(), 1u);
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(endpoint.documents().size(), 500u);
}

TEST(BulkWriter, WakesTheOwnerWhenARequestFinishes) {
  BulkEndpoint endpoint;
  std::atomic<int> woken = 0;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.on_finished([&] { ++woken; });
  writer.submit(bulk_of("a", 1));
  ASSERT_TRUE(wait_until([&] { return woken == 1; }));
  EXPECT_EQ(writer.take(milliseconds(0)).size(), 1u);
}

TEST(BulkWriter, StopEndsAWaitAtOnceAndReturnsNothingWithoutOutcome) {
  BulkWriter::Options options = quick_options();
  options.backoff = {seconds(3'600), seconds(3'600)};
  BulkWriter writer(options, answering([](const HttpRequest&) -> HttpResponse { return {429, ""}; }));
  writer.submit(bulk_of("a", 1));
  ASSERT_TRUE(wait_until([&] { return writer.state().waiting; }));
  writer.stop(kDeadline);
  EXPECT_TRUE(writer.take(kDeadline).empty());
  EXPECT_EQ(writer.outstanding(), 0u);
}

TEST(BulkWriter, StopLetsARequestOnTheWireFinishAndReturnsIt) {
  BulkEndpoint endpoint;
  Gate gate;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) -> HttpResponse {
                      gate.wait();
                      return {200, endpoint.apply(request.body)};
                    }));
  writer.submit(bulk_of("a", 1));
  ASSERT_TRUE(wait_until([&] { return gate.waiting() == 1; }));
  std::thread opener([&] { gate.open(); });
  writer.stop(kDeadline);
  opener.join();
  EXPECT_EQ(writer.take(milliseconds(0)).size(), 1u);
}

TEST(BulkWriter, WhatIsSubmittedAfterStopIsDropped) {
  std::atomic<int> requests = 0;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest&) -> HttpResponse {
                      ++requests;
                      return {503, ""};
                    }));
  writer.stop(milliseconds(0));
  writer.submit(bulk_of("a", 1));
  writer.submit(bulk_of("b", 1));
  EXPECT_EQ(writer.outstanding(), 0u);
  EXPECT_TRUE(writer.take(kDeadline).empty());
  EXPECT_EQ(requests, 0);
}

/// Answers an item of the index as the function says: its status and its error's type, and 200 for none.
HttpResponse answer_items(
    const HttpRequest& request,
    const std::function<std::pair<int, std::string>(const nlohmann::json& action)>& fault) {
  nlohmann::json items = nlohmann::json::array();
  std::istringstream lines{std::string(request.body)};
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json action = nlohmann::json::parse(line).at("index");
    std::getline(lines, line);
    auto [status, type] = fault(action);
    if (status == 200 && action.contains("if_seq_no"))
      std::tie(status, type) = std::pair(409, "version_conflict_engine_exception");
    nlohmann::json item = {{"_id", action.at("_id")}, {"status", status}};
    if (status != 200) item["error"] = {{"type", type}, {"reason", "by the test"}};
    items.push_back({{"index", item}});
  }
  return {200, nlohmann::json{{"errors", true}, {"items", items}}.dump()};
}

TEST(BulkWriter, AnIndexThatTakesNoWritesGivesItsItemsBackAndNoOthers) {
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) {
                      return answer_items(request,
                                          [](const nlohmann::json& action) -> std::pair<int, std::string> {
                                            if (action.at("_index") == "blocked")
                                              return {403, "cluster_block_exception"};
                                            return {200, ""};
                                          });
                    }));
  BulkRequest blocked;
  blocked.index("blocked", {2, "b", ""}, DocumentVersion(Epoch{1}, 5), "{}");
  const std::uint64_t of_blocked = writer.submit(std::move(blocked));
  writer.submit(bulk_of("a", 1));
  const std::vector<BulkResult> results = take_all(writer, 2);
  ASSERT_EQ(results.size(), 2u);
  for (const BulkResult& result : results) {
    const bool is_blocked = result.ticket == of_blocked;
    EXPECT_EQ(result.outcomes, std::vector<Outcome>{is_blocked ? Outcome::kNotTaken : Outcome::kApplied});
    if (is_blocked) EXPECT_EQ(result.refusals.at(0).type, "cluster_block_exception");
  }
  EXPECT_FALSE(writer.state().waiting);
}

TEST(BulkWriter, ADocumentThatFailsWhileItsIndexTakesOthersIsPutOffAlone) {
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(20);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      const bool is_probe = request.body.find("if_seq_no") != std::string_view::npos;
                      if (!is_probe && request.body.find("\"a3\"") != std::string_view::npos)
                        return {429, R"({"error":{"type":"es_rejected_execution_exception","reason":"r"}})"};
                      return answer_items(
                          request, [](const nlohmann::json&) { return std::pair(200, std::string()); });
                    }));
  writer.submit(bulk_of("a", 8));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(7, Outcome::kApplied));
  EXPECT_FALSE(results[0].is_last);
  EXPECT_EQ(results[1].outcomes, std::vector<Outcome>{Outcome::kRefused});
  EXPECT_EQ(results[1].request.items().at(0).key.id.text, "a3");
  EXPECT_EQ(results[1].refusals.at(0).status, 429);
}

// Its neighbours were put off with it, by fives: pieces of so many were not cut further.
TEST(BulkWriter, NoNeighbourOfADocumentThatFailsTheWholeRequestIsPutOff) {
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(20);
  options.unsettled_patience = milliseconds(300);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      for (const char* poison : {"\"a3\"", "\"a700\"", "\"a1499\""}) {
                        if (request.body.find(poison) != std::string_view::npos) return {503, "<html>"};
                      }
                      return answer_items(
                          request, [](const nlohmann::json&) { return std::pair(200, std::string()); });
                    }));
  writer.submit(bulk_of("a", 1'500));
  std::set<std::string> put_off;
  for (const BulkResult& result : take_all(writer, 1)) add_unwritten(result, put_off);
  EXPECT_EQ(put_off, (std::set<std::string>{"a1499", "a3", "a700"}));
}

// The question whether its index takes writes has the document's _id, and was cut off, too: so nobody could
// tell, and it was tried for ever.
TEST(BulkWriter, ADocumentWhoseNameCutsEveryRequestIsPutOffAndNamed) {
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(20);
  options.unsettled_patience = milliseconds(300);
  bool is_named = false;
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      if (request.body.find("\"a3\"") != std::string_view::npos)
                        throw TransportError("Empty reply from server", true);
                      return answer_items(
                          request, [](const nlohmann::json&) { return std::pair(200, std::string()); });
                    }));
  writer.submit(bulk_of("a", 8));
  std::set<std::string> put_off;
  bool is_last = false;
  ASSERT_TRUE(wait_until([&] {
    if (writer.state().reason == "document \"a3\" of index posts: Empty reply from server") is_named = true;
    for (const BulkResult& result : writer.take(milliseconds(1))) {
      is_last = result.is_last;
      add_unwritten(result, put_off);
    }
    return is_last;
  }));
  EXPECT_EQ(put_off, std::set<std::string>{"a3"});
  EXPECT_TRUE(is_named);
}

// The pause before the last try was up to twice the patience: 4.7 s instead of 2.
TEST(BulkWriter, WhatIsPutOffDoesNotWaitLongerThanThePatience) {
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(400);
  options.backoff = {milliseconds(100), std::chrono::minutes(10)};
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      const bool is_probe = request.body.find("if_seq_no") != std::string_view::npos;
                      if (!is_probe) return {429, R"({"error":{"type":"es_rejected_execution_exception"}})"};
                      return answer_items(
                          request, [](const nlohmann::json&) { return std::pair(200, std::string()); });
                    }));
  writer.submit(bulk_of("a", 1));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>{Outcome::kRefused});
  EXPECT_LT(results[0].took, milliseconds(600));
}

TEST(BulkWriter, NothingIsGivenBackWhileElasticsearchTakesNothing) {
  std::atomic<bool> overloaded = true;
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(0);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      if (overloaded) return {429, R"({"error":{"type":"es_rejected_execution_exception"}})"};
                      return answer_items(
                          request, [](const nlohmann::json&) { return std::pair(200, std::string()); });
                    }));
  const std::uint64_t ticket = writer.submit(bulk_of("a", 2));
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > 6; }));
  EXPECT_TRUE(is_repeated(writer, ticket));
  overloaded = false;
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(2, Outcome::kApplied));
}

// An index whose node was busy took the places of all requests, and the other indices stood still.
TEST(BulkWriter, AnIndexThatIsTooBusyForAnyWriteIsHeldOnlyWhileOthersAreTaken) {
  std::atomic<bool> all_are_busy = true;
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(20);
  options.targets = {{{1}, "posts"}, {{2}, "files"}};
  BulkWriter writer(options, answering([&](const HttpRequest& request) {
                      return answer_items(request,
                                          [&](const nlohmann::json& action) -> std::pair<int, std::string> {
                                            if (all_are_busy || action.at("_index") == "posts")
                                              return {429, "es_rejected_execution_exception"};
                                            return {200, ""};
                                          });
                    }));
  const std::uint64_t ticket = writer.submit(bulk_of("a", 2));
  ASSERT_TRUE(is_repeated(writer, ticket));
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > 20; }));
  EXPECT_TRUE(writer.state().waiting) << "all of Elasticsearch is busy";
  all_are_busy = false;
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>(2, Outcome::kNotTaken));
  EXPECT_EQ(results[0].refusals.at(0).status, 429);
  EXPECT_FALSE(writer.state().waiting);
}

// It asked three others in their order, which were busy, too, and so all of them were waited for.
TEST(BulkWriter, WhereSeveralIndicesAreBusyTheOnesThatTakeWritesSpeakAgainstThem) {
  BulkWriter::Options options = quick_options();
  options.patience = milliseconds(20);
  for (int i = 1; i <= 8; ++i) options.targets.push_back({{i}, "index" + std::to_string(i)});
  const std::set<std::string> busy = {"posts", "index1", "index2", "index3", "index4", "index5", "index7"};
  BulkWriter writer(options, answering([&](const HttpRequest& request) {
                      return answer_items(request,
                                          [&](const nlohmann::json& action) -> std::pair<int, std::string> {
                                            if (busy.contains(action.at("_index")))
                                              return {429, "es_rejected_execution_exception"};
                                            return {200, ""};
                                          });
                    }));
  BulkRequest quick;
  quick.index("index6", {IndexId{6}, DocumentId{"a"}, ""}, DocumentVersion(Epoch{1}, 5), "{}");
  writer.submit(std::move(quick));
  ASSERT_EQ(take_all(writer, 1).size(), 1u);
  writer.submit(bulk_of("a", 1));
  const std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>{Outcome::kNotTaken});
}

// The pipeline was "waiting for Elasticsearch", and not ready, because of one document.
TEST(BulkWriter, ADocumentThatFailsWhileItsIndexTakesOthersIsNoOutage) {
  BulkWriter::Options options = quick_options();
  options.patience = std::chrono::hours(1);
  BulkWriter writer(options, answering([&](const HttpRequest& request) -> HttpResponse {
                      return answer_items(request, [](const nlohmann::json& action) {
                        return action.contains("if_seq_no")
                                   ? std::pair(200, std::string())
                                   : std::pair(429, std::string("es_rejected_execution_exception"));
                      });
                    }));
  const std::uint64_t ticket = writer.submit(bulk_of("a", 1));
  ASSERT_TRUE(is_repeated(writer, ticket));
  const std::uint64_t before = writer.state().retries;
  ASSERT_TRUE(wait_until([&] { return writer.state().retries > before + 3; }));
  EXPECT_FALSE(writer.state().waiting) << writer.state().reason;
}

TEST(BulkWriter, WhatMayBeTheFaultOfTheIndexIsRefusedOnlyIfTheIndexTakesOtherWrites) {
  std::atomic<bool> has_write_index = true;
  BulkWriter writer(quick_options(), answering([&](const HttpRequest& request) {
                      return answer_items(request,
                                          [&](const nlohmann::json& action) -> std::pair<int, std::string> {
                                            if (has_write_index && action.contains("if_seq_no"))
                                              return {200, ""};
                                            return {400, "illegal_argument_exception"};
                                          });
                    }));
  writer.submit(bulk_of("a", 1));
  std::vector<BulkResult> results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>{Outcome::kRefused});
  has_write_index = false;
  writer.submit(bulk_of("a", 1));
  results = take_all(writer, 1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcomes, std::vector<Outcome>{Outcome::kNotTaken});
}

}  // namespace
}  // namespace lockstep
