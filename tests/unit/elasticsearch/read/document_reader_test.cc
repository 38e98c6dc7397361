#include "replicator/elasticsearch/read/document_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/elasticsearch/read/reply_size.h"
#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

struct Read {
  std::string id, routing, source;
  std::int64_t version = 0;
  bool operator==(const Read&) const = default;
};

std::vector<std::optional<Read>> fetch(Script& script, const std::vector<DocumentLocation>& wanted) {
  std::vector<std::optional<Read>> found;
  ElasticsearchClient client = client_of(script);
  fetch_documents(client, "posts", wanted,
                  [&](std::size_t position, const std::optional<StoredDocument>& document) {
                    EXPECT_EQ(position, found.size());
                    if (!document) {
                      found.emplace_back();
                    } else {
                      found.push_back(Read{std::string(document->id), std::string(document->routing),
                                           std::string(document->source), document->version.value()});
                    }
                  });
  return found;
}

constexpr const char* kTwoFound =
    R"({"docs":[{"_index":"i","_type":"_doc","_id":"a\"b","_version":7,"_seq_no":1,"_primary_term":1,)"
    R"("_routing":"r","found":true,"_source":{ "n" : 1.10, "s":"}{\"" }},{"_index":"i","_id":"c","found":false}]})";

TEST(FetchDocuments, ADocumentWithoutAVersionIsNotOneOfVersionZero) {
  for (const char* version : {"", R"("_version":"7",)"}) {
    Script script{
        {{200, R"({"docs":[{"_id":"a",)" + std::string(version) + R"("found":true,"_source":{}}]})"}}, {}};
    EXPECT_THROW((void)fetch(script, {{"a", ""}}), Error) << version;
  }
}

TEST(FetchDocuments, GivesTheBytesOfTheSource) {
  Script script{{{200, kTwoFound}}, {}};
  const auto found = fetch(script, {{"a\"b", "r"}, {"c", ""}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Read{"a\"b", "r", R"({ "n" : 1.10, "s":"}{\"" })", 7}));
  EXPECT_EQ(found[1], std::nullopt);
  EXPECT_EQ(script.requests.at(0).path, "/posts/_mget");
  EXPECT_EQ(script.requests[0].body, R"({"docs":[{"_id":"a\"b","routing":"r"},{"_id":"c"}]})");
}

TEST(FetchDocuments, ACutOrMisfitReplyIsARetryableError) {
  const std::string whole = kTwoFound;
  std::vector<std::string> replies;
  for (std::size_t length = 0; length < whole.size(); ++length) replies.push_back(whole.substr(0, length));
  replies.insert(replies.end(), {"<html>", R"({"docs":[]})",
                                 R"({"docs":[{"_id":"c","found":false},{"_id":"a\"b","found":false}]})"});
  for (const std::string& reply : replies) {
    Script script{{{200, reply}}, {}};
    try {
      fetch(script, {{"a\"b", "r"}, {"c", ""}});
      ADD_FAILURE() << reply;
    } catch (const Error& error) {
      EXPECT_TRUE(error.retryable()) << reply;
    }
  }
}

TEST(FetchDocuments, AnItemsErrorIsAnError) {
  Script script{
      {{200,
        R"({"docs":[{"_index":"posts","_id":"a","error":{"type":"index_not_found_exception","reason":"no"}}]})"}},
      {}};
  try {
    fetch(script, {{"a", ""}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("lockstep apply"));
  }
}

// A multi-get's answers for ids from `begin` to before `end`, which are not there.
std::string none_of(std::size_t begin, std::size_t end) {
  std::string docs;
  for (std::size_t i = begin; i < end; ++i)
    docs += (docs.empty() ? std::string() : ",") + R"({"_id":")" + std::to_string(i) + R"(","found":false})";
  return R"({"docs":[)" + docs + "]}";
}

TEST(FetchDocuments, AsksForMoreAtOnceAsRepliesStaySmall) {
  std::vector<std::string> ids;
  for (int i = 0; i < 1'200; ++i) ids.push_back(std::to_string(i));
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, ""});
  Script script;
  std::size_t begin = 0;
  for (const std::size_t documents : {4, 16, 64, 256, 500, 360}) {
    script.answers.push_back({200, none_of(begin, begin + documents)});
    begin += documents;
  }
  EXPECT_EQ(fetch(script, wanted).size(), 1'200u);
  EXPECT_TRUE(script.answers.empty());
}

constexpr const char* kBreaker =
    R"({"error":{"type":"circuit_breaking_exception","reason":"[parent] Data too large"},"status":429})";

std::vector<DocumentLocation> numbered(const std::vector<std::string>& ids) {
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, ""});
  return wanted;
}

TEST(FetchDocuments, AsksABusyServerForFewerAtOnceWhenItMayWait) {
  for (const int status : {429, 503, 400}) {
    const HttpResponse busy{status, kBreaker};
    Script script{{busy, busy, {200, none_of(0, 1)}, busy, {200, none_of(1, 2)}, {200, none_of(2, 4)}}, {}};
    std::vector<std::string> said;
    ElasticsearchClient client = patient_client_of(
        script, {.limit = std::chrono::seconds(30),
                 .waiting = [&](const Error& error, auto) { said.emplace_back(error.what()); }});
    std::size_t told = 0;
    fetch_documents(client, "posts", numbered({"0", "1", "2", "3"}),
                    [&](std::size_t i, const auto&) { EXPECT_EQ(i, told++); });
    EXPECT_EQ(told, 4u);
    EXPECT_TRUE(script.answers.empty());
    EXPECT_EQ(script.requests.at(1).body, R"({"docs":[{"_id":"0"},{"_id":"1"}]})");
    EXPECT_EQ(script.requests.at(2).body, R"({"docs":[{"_id":"0"}]})");
    EXPECT_THAT(said, testing::SizeIs(3));
    EXPECT_THAT(said, testing::Each(HasSubstr("circuit_breaking_exception: [parent] Data too large")));
  }
}

TEST(FetchDocuments, AReplyThatIsCutOffIsAskedForInSmallerPartsAndOneDocumentMayBeAsLargeAsItIs) {
  const auto one = [](const std::string& id) {
    return R"({"_id":")" + id + R"(","_version":1,"found":true,"_source":{"s":")" +
           std::string(kMostReplyBytes, 'x') + "\"}}";
  };
  const std::string all = R"({"docs":[)" + one("0") + "," + one("1") + "]}";
  Script script{
      {{200, all}, {200, R"({"docs":[)" + one("0") + "]}"}, {200, R"({"docs":[)" + one("1") + "]}"}}, {}};
  const auto found = fetch(script, {{"0", ""}, {"1", ""}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(found[0]->source.size(), kMostReplyBytes);
  EXPECT_GT(found[1]->source.size(), kMostReplyBytes);
  EXPECT_EQ(script.requests.size(), 3u);
}

TEST(FetchDocuments, ABusyServerIsARetryableErrorAtOnceWhereAJobIsPutOff) {
  Script script{{{429, kBreaker}}, {}};
  try {
    fetch(script, {{"0", ""}, {"1", ""}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
  }
  EXPECT_EQ(script.requests.size(), 1u);
}

TEST(FetchDocuments, GoesOnBehindTheDocumentsThatABusyShardHasGiven) {
  const std::string partly =
      R"({"docs":[{"_id":"0","found":false},{"_id":"1","error":{"type":"circuit_breaking_exception",)"
      R"("reason":"r"}},{"_id":"2","found":false}]})";
  Script script{{{200, partly}, {200, none_of(1, 2)}, {200, none_of(2, 3)}}, {}};
  ElasticsearchClient client = patient_client_of(script);
  std::size_t told = 0;
  fetch_documents(client, "posts", numbered({"0", "1", "2"}),
                  [&](std::size_t i, const auto&) { EXPECT_EQ(i, told++); });
  EXPECT_EQ(told, 3u);
  EXPECT_EQ(script.requests.at(1).body, R"({"docs":[{"_id":"1"}]})");
}

// OpenSearch refuses a multi-get without the privilege so, in each document of a reply with status 200.
TEST(FetchDocuments, ADocumentThatMayNotBeReadIsNotWaitedFor) {
  Script script{{{200, R"({"docs":[{"_id":"0","error":{"type":"security_exception","reason":"no"}}]})"}}, {}};
  ElasticsearchClient client = patient_client_of(script);
  try {
    fetch_documents(client, "posts", numbered({"0"}), [](std::size_t, const auto&) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), AllOf(HasSubstr("security_exception"), HasSubstr("grant the user")));
  }
}

TEST(LookUpDocuments, AsksForNoContentsAndSoForManyAtOnce) {
  std::vector<std::string> ids;
  for (int i = 0; i < 700; ++i) ids.push_back(std::to_string(i));
  std::vector<DocumentLocation> wanted;
  for (const std::string& id : ids) wanted.push_back({id, ""});
  Script script{{{200, none_of(0, 500)}, {200, none_of(500, 700)}}, {}};
  ElasticsearchClient client = client_of(script);
  std::size_t told = 0;
  look_up_documents(client, "posts", wanted, [&](std::size_t i, const auto&) { EXPECT_EQ(i, told++); });
  EXPECT_EQ(told, 700u);
  EXPECT_EQ(script.requests.at(0).path, "/posts/_mget?_source=false&stored_fields=_routing");
}

TEST(LookUpDocuments, FindsADocumentWithoutItsContents) {
  Script script{{{200, R"({"docs":[{"_id":"a","_version":7,"_routing":"r","found":true}]})"}}, {}};
  ElasticsearchClient client = client_of(script);
  const DocumentLocation wanted{"a", "r"};
  std::string found;
  look_up_documents(client, "posts", {&wanted, 1},
                    [&](std::size_t, const auto& stored) { found = std::string(stored.value().routing); });
  EXPECT_EQ(found, "r");
}

}  // namespace
}  // namespace lockstep
