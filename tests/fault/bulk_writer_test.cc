// The bulk writer over a real connection to a server that misbehaves. Each test ends with the same question:
// has every item exactly one outcome, is it the right one, and does the index hold what it should?
#include "replicator/elasticsearch/bulk/bulk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/log/log_repeats.h"
#include "tests/fault/bulk_faulty_server.h"
#include "tests/support/eventually.h"
#include "tests/support/random_seed.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using support::HttpMessage;
using testing::HasSubstr;
using Reply = BulkFault::Reply;

constexpr auto kDeadline = 60s;
constexpr std::size_t kItems = 40;

const DocumentVersion kVersion(Epoch{1}, 10);

BulkFault status(int code, std::string body = {}) {
  return {.status = code, .body = std::move(body)};
}
BulkFault reply(Reply kind) {
  return {.reply = kind};
}

BulkRequest bulk_of(const std::string& prefix, std::size_t items = kItems, std::size_t document_bytes = 20) {
  BulkRequest request;
  for (std::size_t i = 0; i < items; ++i) {
    const DocumentKey key{1, prefix + std::to_string(i), ""};
    if (i % 5 == 4) {
      request.remove("posts", key, kVersion);
    } else {
      request.index("posts", key, kVersion, "{\"text\":\"" + std::string(document_bytes, 'x') + "\"}");
    }
  }
  return request;
}

BulkWriter writer_to(const std::vector<std::string>& urls, int in_flight = 1,
                     std::chrono::milliseconds timeout = 20s) {
  ElasticsearchConfig config;
  config.urls = urls;
  BulkWriter::Options options;
  options.bulks_in_flight = in_flight;
  options.request_timeout = timeout;
  options.backoff = {1ms, 20ms};
  // Faults end by themselves here, so nothing is put off.
  options.patience = options.background_patience = options.unsettled_patience = 1h;
  return BulkWriter(options, make_transport_factory(config));
}

/// The results of so many requests, and of their parts.
std::vector<BulkResult> take_all(BulkWriter& writer, int requests) {
  std::vector<BulkResult> results;
  support::wait_until(
      [&] {
        for (BulkResult& result : writer.take(100ms)) {
          if (result.is_last) --requests;
          if (!result.request.empty()) results.push_back(std::move(result));
        }
        return requests <= 0;
      },
      kDeadline);
  return results;
}

using Expected = std::function<Outcome(const std::string& id)>;
Outcome all_applied(const std::string&) {
  return Outcome::kApplied;
}

/// The closing question.
void expect_right(const std::vector<BulkResult>& results, std::size_t items, const BulkEndpoint& endpoint,
                  const Expected& expected = all_applied) {
  std::map<std::string, int> seen;
  const auto documents = endpoint.documents();
  for (const BulkResult& result : results) {
    ASSERT_EQ(result.outcomes.size(), result.request.items().size());
    std::size_t refused = 0;
    for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
      const BulkItem& item = result.request.items()[i];
      ++seen[item.key.id.text];
      ASSERT_EQ(result.outcomes[i], expected(item.key.id.text)) << item.key.id.text;
      if (result.outcomes[i] == Outcome::kRefused) {
        ASSERT_LT(refused, result.refusals.size());
        EXPECT_EQ(result.refusals[refused++].item, i);
      }
      if (result.outcomes[i] != Outcome::kApplied) continue;
      ASSERT_TRUE(documents.contains(item.key.id.text)) << item.key.id.text;
      EXPECT_EQ(documents.at(item.key.id.text).version, kVersion.value());
      EXPECT_EQ(documents.at(item.key.id.text).json.empty(), item.action == BulkAction::kDelete);
    }
    EXPECT_EQ(refused, result.refusals.size());
  }
  EXPECT_EQ(seen.size(), items);
  for (const auto& [id, count] : seen) EXPECT_EQ(count, 1) << id;
}

/// One bulk to a server that does what `first` says with the first request and behaves from the second on.
void expect_survives(const BulkFault& first, std::chrono::milliseconds timeout = 20s) {
  BulkFaultyServer server([&](int number, const HttpMessage&) { return number == 1 ? first : BulkFault{}; });
  BulkWriter writer = writer_to({server.url()}, 1, timeout);
  writer.submit(bulk_of("a"));
  expect_right(take_all(writer, 1), kItems, server.endpoint());
  EXPECT_GE(server.requests(), 2);
}

TEST(BulkFaults, RejectedForLoadAsAWhole) {
  expect_survives(
      status(429, R"({"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429})"));
}

TEST(BulkFaults, Unavailable) {
  expect_survives(status(503));
}
TEST(BulkFaults, ProxyWithoutServer) {
  expect_survives(status(502, "<html>Bad Gateway</html>"));
}
TEST(BulkFaults, CredentialsAreBeingChanged) {
  expect_survives(status(401, R"({"error":{"type":"security_exception","reason":"r"},"status":401})"));
}
TEST(BulkFaults, AppliedButTheReplyIsCutInItsBody) {
  expect_survives(reply(Reply::kCutInBody));
}
TEST(BulkFaults, AppliedButTheReplyIsCutInItsHeader) {
  expect_survives(reply(Reply::kCutInHeader));
}
TEST(BulkFaults, AppliedButTheConnectionIsClosed) {
  expect_survives(reply(Reply::kNone));
}
TEST(BulkFaults, AppliedButAProxySentItsOwnPage) {
  expect_survives(reply(Reply::kForeign));
}
TEST(BulkFaults, AppliedButTheReplyCameTooLate) {
  expect_survives(reply(Reply::kNever), 300ms);
}

TEST(BulkFaults, SomeItemsAreRejectedForLoadTimeAndAgain) {
  std::map<std::string, int> tries;
  BulkFaultyServer server([&](int, const HttpMessage&) {
    BulkFault fault;
    fault.items = [&](const std::string& id) {
      return ++tries[id] <= static_cast<int>(id.back() - '0') % 4 ? 429 : 0;
    };
    return fault;
  });
  BulkWriter writer = writer_to({server.url()});
  writer.submit(bulk_of("a"));
  expect_right(take_all(writer, 1), kItems, server.endpoint());
  for (const auto& [id, count] : tries)
    EXPECT_EQ(count, 1 + (id.back() - '0') % 4) << id << " is sent no more than needed";
}

TEST(BulkFaults, HalfOfTheItemsAreRefused) {
  const auto refused = [](const std::string& id) { return (id.back() - '0') % 2 == 1; };
  BulkFaultyServer server([&](int, const HttpMessage&) {
    BulkFault fault;
    fault.items = [&](const std::string& id) { return refused(id) ? 400 : 0; };
    return fault;
  });
  BulkWriter writer = writer_to({server.url()});
  writer.submit(bulk_of("a"));
  expect_right(take_all(writer, 1), kItems, server.endpoint(),
               [&](const std::string& id) { return refused(id) ? Outcome::kRefused : Outcome::kApplied; });
  EXPECT_EQ(server.requests(), 1) << "what is refused for good is not tried again";
}

TEST(BulkFaults, TooLargeRequestsAreSplitAndOnlyAGiantIsRefused) {
  constexpr std::size_t kLimit = 20'000;
  BulkFaultyServer server([&](int, const HttpMessage& request) {
    return request.body.size() > kLimit ? status(413) : BulkFault{};
  });
  BulkWriter writer = writer_to({server.url()});
  BulkRequest request = bulk_of("a", kItems, 2'000);
  request.index("posts", {1, "giant", ""}, kVersion, "{\"text\":\"" + std::string(3 * kLimit, 'x') + "\"}");
  writer.submit(std::move(request));
  const std::vector<BulkResult> results = take_all(writer, 1);
  expect_right(results, kItems + 1, server.endpoint(),
               [](const std::string& id) { return id == "giant" ? Outcome::kRefused : Outcome::kApplied; });
  EXPECT_EQ(results.at(0).refusals.at(0).type, "content_too_large");
}

TEST(BulkFaults, AServerThatHangsUpOnLargeBodiesInsteadOfSaying413) {
  BulkFaultyServer server([&](int, const HttpMessage& request) {
    BulkFault fault = request.body.size() > 20'000 ? status(413) : BulkFault{};
    if (fault.status == 413) fault.reply = Reply::kNone;
    return fault;
  });
  BulkWriter writer = writer_to({server.url()});
  writer.submit(bulk_of("a", kItems, 2'000));
  expect_right(take_all(writer, 1), kItems, server.endpoint());
}

TEST(BulkFaults, APoisonItemThatFailsTheWholeRequestIsRefusedAlone) {
  BulkFaultyServer server([&](int, const HttpMessage& request) {
    const bool poisoned = request.body.find("\"_id\":\"a17\"") != std::string::npos;
    return poisoned
               ? status(400, R"({"error":{"type":"illegal_argument_exception","reason":"r"},"status":400})")
               : BulkFault{};
  });
  BulkWriter writer = writer_to({server.url()});
  writer.submit(bulk_of("a"));
  expect_right(take_all(writer, 1), kItems, server.endpoint(),
               [](const std::string& id) { return id == "a17" ? Outcome::kRefused : Outcome::kApplied; });
}

TEST(BulkFaults, ANewerDocumentIsNotOverwrittenByALateRepetition) {
  // The first bulk is applied but its reply is lost; before it is repeated, somebody writes a newer version.
  BulkEndpoint* endpoint = nullptr;
  BulkFaultyServer server([&](int number, const HttpMessage&) {
    if (number == 2) {
      BulkRequest newer;
      newer.index("posts", {1, "a0", ""}, DocumentVersion(Epoch{2}, 1), "{\"newer\":true}");
      endpoint->apply(newer.body());
    }
    return number == 1 ? reply(Reply::kCutInBody) : BulkFault{};
  });
  endpoint = const_cast<BulkEndpoint*>(&server.endpoint());
  BulkWriter writer = writer_to({server.url()});
  writer.submit(bulk_of("a", 3));
  expect_right(take_all(writer, 1), 3, server.endpoint(),
               [](const std::string& id) { return id == "a0" ? Outcome::kSuperseded : Outcome::kApplied; });
  EXPECT_EQ(server.endpoint().documents().at("a0").json, "{\"newer\":true}");
}

TEST(BulkFaults, AServerThatIsDownIsLeftForTheOther) {
  std::string dead;
  {
    const BulkFaultyServer closed([](int, const HttpMessage&) { return BulkFault{}; });
    dead = closed.url();
  }
  BulkFaultyServer server([](int, const HttpMessage&) { return BulkFault{}; });
  BulkWriter writer = writer_to({dead, server.url()}, 2);
  for (const char* prefix : {"a", "b", "c", "d"}) writer.submit(bulk_of(prefix));
  expect_right(take_all(writer, 4), 4 * kItems, server.endpoint());
  EXPECT_EQ(writer.state().retries, 0u);
}

TEST(BulkFaults, WhileNobodyAnswersTheReasonNamesTheServers) {
  std::string dead;
  {
    const BulkFaultyServer closed([](int, const HttpMessage&) { return BulkFault{}; });
    dead = closed.url();
  }
  std::string with_password = dead;
  with_password.insert(7, "user:geheim@");
  BulkWriter writer = writer_to({with_password});
  writer.submit(bulk_of("a"));
  ASSERT_TRUE(support::wait_until([&] { return writer.state().retries > 3; }, kDeadline));
  EXPECT_TRUE(writer.state().waiting);
  EXPECT_THAT(writer.state().reason, HasSubstr(dead));
  EXPECT_EQ(writer.state().reason.find("geheim"), std::string::npos);
  writer.stop(kDeadline);
  for (const BulkResult& result : writer.take(0ms)) EXPECT_TRUE(result.request.empty());
}

TEST(BulkFaults, StoppingDoesNotWaitForAServerThatHangs) {
  BulkFaultyServer server([](int, const HttpMessage&) { return reply(Reply::kNever); });
  const auto begin = std::chrono::steady_clock::now();
  {
    BulkWriter writer = writer_to({server.url()}, 2, 3'600s);
    writer.submit(bulk_of("a"));
    writer.submit(bulk_of("b"));
    ASSERT_TRUE(support::wait_until([&] { return server.requests() == 2; }, kDeadline));
    writer.stop(50ms);
    EXPECT_TRUE(writer.take(kDeadline).empty()) << "no outcome is invented";
    EXPECT_EQ(writer.outstanding(), 0u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kDeadline);
}

// Elasticsearch 401, fine again, then 401 for long: the second outage never had a line.
TEST(BulkFaults, AnOutageSoonAfterAShortOneIsLoggedToo) {
  testing::internal::CaptureStderr();
  start_logging(LogFormat::kJson, "info", 300ms);
  std::atomic<bool> refuses = true;
  BulkFaultyServer server([&](int, const HttpMessage&) { return refuses ? status(401) : BulkFault{}; });
  BulkWriter writer = writer_to({server.url()});
  for (const auto lasts : {100ms, 600ms}) {
    refuses = true;
    writer.submit(bulk_of("a"));
    const int before = server.requests();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(support::wait_until(
        [&] { return std::chrono::steady_clock::now() - begin > lasts && server.requests() > before + 4; },
        kDeadline));
    refuses = false;
    EXPECT_EQ(take_all(writer, 1).size(), 1u);
  }
  start_logging(LogFormat::kText, "error");
  std::istringstream lines(testing::internal::GetCapturedStderr());
  int warnings = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line.at("level") != "warn") continue;
    ++warnings;
    EXPECT_THAT(line.at("message").get<std::string>(), HasSubstr("waiting for Elasticsearch: "));
    EXPECT_EQ(line.at("error"), "elasticsearch_refuses") << "a retry needs somebody's hand";
  }
  EXPECT_EQ(warnings, 2);
}

TEST(BulkFaults, ConnectionsAreKeptAlive) {
  BulkFaultyServer server([](int, const HttpMessage&) { return BulkFault{}; });
  BulkWriter writer = writer_to({server.url()});
  for (int i = 0; i < 20; ++i) {
    writer.submit(bulk_of(std::string(1, static_cast<char>('a' + i))));
    ASSERT_EQ(take_all(writer, 1).size(), 1u);
  }
  EXPECT_LE(server.connections(), 2) << "one for each of the writer's threads";
}

TEST(BulkFaults, AnyMixtureOfFaultsEndsWithOneRightOutcomeForEachItem) {
  std::mutex mutex;
  std::mt19937_64 random(support::random_seed());
  const auto refused = [](const std::string& id) { return id.back() == '7'; };
  BulkFaultyServer server([&](int, const HttpMessage& request) {
    const std::lock_guard lock(mutex);
    switch (random() % 16) {
      case 0:
        return status(429);
      case 1:
        return status(503, "<html>");
      case 2:
        return reply(Reply::kCutInBody);
      case 3:
        return reply(Reply::kCutInHeader);
      case 4:
        return reply(Reply::kNone);
      case 5:
        return reply(Reply::kForeign);
      case 6:
        return random() % 4 == 0
                   ? reply(Reply::kNever)
                   : BulkFault{.items = [&](const std::string& id) { return refused(id) ? 400 : 503; }};
      case 7:
        return count_items(request.body) > 3 ? status(413) : status(429);
      default: {
        const std::uint64_t salt = random();
        return BulkFault{.items = [&refused, salt](const std::string& id) {
          if (std::hash<std::string>{}(id + std::to_string(salt)) % 4 == 0) return 429;
          return refused(id) ? 400 : 0;
        }};
      }
    }
  });
  BulkWriter writer = writer_to({server.url()}, 3, 400ms);
  constexpr int kBulks = 30;
  for (int bulk = 0; bulk < kBulks; ++bulk) writer.submit(bulk_of("b" + std::to_string(bulk) + "-"));
  expect_right(take_all(writer, kBulks), kBulks * kItems, server.endpoint(),
               [&](const std::string& id) { return refused(id) ? Outcome::kRefused : Outcome::kApplied; });
  EXPECT_FALSE(writer.state().waiting);
}

}  // namespace
}  // namespace lockstep
