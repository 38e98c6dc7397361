// What is read of a tree's documents, which others write too.
#include "replicator/tree/tree_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/tree/server_task.h"
#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json hit(const char* source) {
  return {{"_index", "fs"}, {"_id", "17"},        {"_routing", "r"},
          {"_seq_no", 3},   {"_primary_term", 1}, {"_source", json::parse(source)}};
}

std::string error_of(const json& found) {
  try {
    (void)read_tree_document(found);
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    return error.what();
  }
  return "no error";
}

TEST(TreeDocumentsTest, WhatADocumentLacksIsEmptyAndItsFenceZero) {
  const TreeDocument document = read_tree_document(hit(R"({"path": "/a", "name": "b", "fence": null})"));
  EXPECT_TRUE(document.is_at(TreePath("/a/b")));
  EXPECT_EQ(document.fence, 0);
  EXPECT_EQ(document.sequence_number, 3);
  EXPECT_EQ(document.routing, "r");
  EXPECT_EQ(read_tree_document(hit("{}")).path, "");
}

TEST(TreeDocumentsTest, AFenceThatIsStoredAsTextStillFences) {
  const TreeDocument document = read_tree_document(hit(R"({"fence": "12"})"));
  EXPECT_EQ(document.fence, 12);
}

TEST(TreeDocumentsTest, AFenceThatIsNoNumberIsNotZero) {
  EXPECT_THAT(error_of(hit(R"({"fence": "twelve"})")),
              AllOf(HasSubstr("the document 17 of fs: its fence is \"twelve\", not a whole number"),
                    HasSubstr("written by something else, or by a newer lockstep")));
  for (const char* fence : {"12.5", "[12]", "true", "{}", "18446744073709551615", "4503599627370497"}) {
    EXPECT_THAT(error_of(hit((R"({"fence": )" + std::string(fence) + "}").c_str())),
                HasSubstr("its fence is "))
        << fence;
  }
}

TEST(TreeDocumentsTest, StagedContentsAreToldByWhatOnlyLockstepWrites) {
  EXPECT_TRUE(read_tree_document(hit(R"({"kind": "lockstep-staged:17", "contents": "x"})")).is_staged());
  for (const char* other : {R"({"kind": "staged"})", R"({"kind": "lockstep-staged:18"})",
                            R"({"kind": "lockstep-staged:17", "path": "/", "name": "f"})"}) {
    EXPECT_FALSE(read_tree_document(hit(other)).is_staged()) << other;
  }
}

TEST(TreeDocumentsTest, APlaceOrKindThatIsNoTextIsNamed) {
  for (const char* field : {"path", "name", "kind"}) {
    json found = hit("{}");
    found["_source"][field] = {"directory"};
    EXPECT_THAT(error_of(found),
                HasSubstr("the document 17 of fs: its " + std::string(field) + " is [\"directory\"]"));
  }
}

TEST(TreeDocumentsTest, APathWithoutANameIsNoPlace) {
  for (const char* source : {R"({"path": "/a"})", R"({"path": "/a", "name": ""})"})
    EXPECT_THAT(error_of(hit(source)), HasSubstr("the document 17 of fs: it has no name")) << source;
}

TEST(TreeDocumentsTest, AnIndexWithoutSourcesHasNoFenceOfZero) {
  json found = hit("{}");
  found.erase("_source");
  EXPECT_THAT(error_of(found), HasSubstr("_source"));
}

TEST(TreeDocumentsTest, ContentsThatAreNoTextAreNotEmpty) {
  Script script{{{200, R"({"found": true, "_index": "fs", "_id": "17", "_source": {"contents": {"a": 1}}})"},
                 {200, R"({"found": true, "_index": "fs", "_id": "17", "_source": {"kind": "staged"}})"}},
                {}};
  ElasticsearchClient client = client_of(script);
  TreeDocuments documents(client, "fs");
  EXPECT_THROW((void)documents.get("17"), Error);
  EXPECT_FALSE(documents.get("17")->contents) << "missing, not empty";
}

TEST(TreeDocumentsTest, ATimeOutOfTheServerMayWorkLater) {
  for (const int status : {400, 403, 408, 429, 503}) {
    try {
      (void)tree_hits("searching", {{"error", {{"type", "t"}}}, {"status", status}});
      FAIL() << status;
    } catch (const Error& error) {
      EXPECT_EQ(error.retryable(), status > 403) << status;
    }
    Script script{{{200, R"({"task": "n:1"})"},
                   {200, R"({"completed": true, "response": {"failures": [{"status": )" +
                             std::to_string(status) + "}]}}"}},
                  {}};
    ElasticsearchClient client = client_of(script);
    ServerTask task = ServerTask::start(client, "fs", json::object());
    try {
      (void)task.state();
      FAIL() << status;
    } catch (const Error& error) {
      EXPECT_EQ(error.retryable(), status > 403) << status;
    }
  }
}

}  // namespace
}  // namespace lockstep
