// A tree among documents that somebody else has written, in an index that somebody else has mapped.
#include <gmock/gmock.h>

#include <string>

#include "replicator/locks/backends/elasticsearch/locks.h"
#include "tests/integration/tree_fixture.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Locking = TreeConfig::Locking;

class TreeForeignTest : public TreeTest {
 protected:
  template <class Change>
  static std::string error_of(const Change& change) {
    try {
      change();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  static std::string refusal_of_move(TreeClient& client, const std::string& from, const std::string& to) {
    return error_of([&] { (void)client.tree->move(TreePath(from), TreePath(to), {}); });
  }
};

std::string repeated(const std::string& segment, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += segment;
  return text;
}

// Reported: two `tree mv`, each with exit code 0, gave a file a path of 9,038 bytes, which no search finds.
TEST_F(TreeForeignTest, AMoveNeverMakesAPathThatIsTooLong) {
  const auto client = open(Locking::kTree);
  const std::string segment = "/" + std::string(250, 'd');
  write("deep", "/t" + repeated(segment, 15), "f");
  const std::string to = "/q" + repeated(segment, 7);
  const auto refused =
      AllOf(HasSubstr("the path of the document deep would have 5526 bytes"), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal_of_move(*client, "/t", to), refused);
  fill("/t", 1'100);  // so many that the server would move them
  EXPECT_THAT(refusal_of_move(*client, "/t", to), refused);
  EXPECT_EQ(count_below("/q"), 0);
  EXPECT_EQ(refusal_of_move(*client, "/t" + segment, "/s"), "none") << "a shorter path";
  expect_nothing_left(*client);
}

// Reported: with a `kind` that is folded or analysed, a file became a directory, and its contents unreadable.
TEST_F(TreeForeignTest, AFileIsInTheWayHoweverItsKindIsAnalysed) {
  server().expect("PUT", "/" + tree_index(), R"({
    "settings": {"analysis": {"normalizer": {"fold": {"type": "custom", "filter": ["lowercase"]}}}},
    "mappings": {"properties": {"kind": {"type": "keyword", "normalizer": "fold"}, "path": {"type": "keyword"},
                                "name": {"type": "keyword"}}}})");
  const auto client = open(Locking::kTree);
  write("1", "/", "x", {{"kind", "Directory"}, {"contents", "I am a file"}});
  EXPECT_THAT(error_of([&] { (void)client->tree->put(TreePath("/x/y"), "", {}); }),
              HasSubstr("/x is a file, not a directory"));
  EXPECT_EQ(client->tree->read(TreePath("/x")), "I am a file");
  expect_nothing_left(*client);
}

// Reported: where `kind` was mapped as text, `recover` left behind what a dead put had staged, without a
// word.
TEST_F(TreeForeignTest, AKindByWhichNoStagedDocumentIsFoundIsRefused) {
  const auto refusal = [&](const json& kind) {
    const json keyword = {{"type", "keyword"}};
    server().expect(
        "PUT", "/" + tree_index(),
        json{{"mappings", {{"properties", {{"path", keyword}, {"name", keyword}, {"kind", kind}}}}}}.dump());
    const std::string text = error_of([&] { (void)open(Locking::kTree); });
    server().expect("DELETE", "/" + tree_index());
    return text;
  };
  const json short_keyword = {{"type", "keyword"}, {"ignore_above", 5}};
  const std::string field = "its field \"kind\" ";
  EXPECT_THAT(refusal({{"type", "text"}}), HasSubstr(field + "is not mapped as a keyword"));
  EXPECT_THAT(refusal({{"type", "integer"}}), HasSubstr(field + "is not mapped as a keyword"));
  EXPECT_THAT(refusal({{"type", "keyword"}, {"index", false}}), HasSubstr(field + "is not indexed"));
  EXPECT_THAT(refusal(short_keyword), HasSubstr(field + "has ignore_above 5"));
  EXPECT_THAT(refusal({{"type", "text"}, {"fields", {{"keyword", short_keyword}}}}),
              HasSubstr(field + "has ignore_above 5"));
}

// Reported: "a pipeline fills it from a database", of an index of locks.
TEST_F(TreeForeignTest, AnIndexOfLocksIsNoTree) {
  Config config = this->config(Locking::kTree);
  open_locks(config)->prepare();
  config.tree.index = lock_indices(config.locks.index).journal;
  EXPECT_THAT(error_of([&] { TreeClient client(config); }), HasSubstr("it is an index of locks"));
}

TEST_F(TreeForeignTest, AKindMappedByItsFirstDocumentServes) {
  const json keyword = {{"type", "keyword"}};
  server().expect("PUT", "/" + tree_index(),
                  json{{"mappings", {{"properties", {{"path", keyword}, {"name", keyword}}}}}}.dump());
  write("1", "/", "d", {{"kind", "directory"}});
  const auto client = open(Locking::kTree);
  const std::string dead = "dead-1";
  server().expect("PUT", "/" + tree_index() + "/_doc/" + dead,
                  json{{"kind", kStagedKind + dead}, {"contents", "never"}}.dump());
  client->tree->recover();
  EXPECT_THAT(paths(), ElementsAre("/d"));
}

// Reported: a fence of 2^51 to 2^52 was met after the commit and locked the directory for ever; and one just
// below spread, so that everything written since was locked once the indices of locks had been deleted.
TEST_F(TreeForeignTest, AFenceNearTheGreatestTokenJamsNothing) {
  auto client = open(Locking::kTree);
  const auto put = [&](const char* path) {
    EXPECT_EQ(error_of([&] { (void)client->tree->put(TreePath(path), "new", {}); }), "none");
  };
  write("1", "/a", "f", {{"fence", kMostExceeded + 2}});
  write("2", "/a", "g", {{"fence", 2 * kMostExceeded}});
  put("/a/f");
  EXPECT_EQ(refusal_of_move(*client, "/a", "/b"), "none");
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g"));
  for (const auto& [id, document] : stored()) EXPECT_LT(document.source.at("fence"), kMostExceeded) << id;

  write("3", "/b", "h", {{"fence", kMostExceeded}});
  put("/b/h");
  put("/b/f");
  EXPECT_GT(stored().at("1").source.at("fence"), kMostExceeded) << "tokens only grow";
  const LockIndices indices = lock_indices(client->config.locks.index);
  for (const std::string& index : {indices.locks, indices.journal}) server().expect("DELETE", "/" + index);
  client = open(Locking::kTree);
  put("/b/f");
  put("/b/h");
  EXPECT_EQ(refusal_of_move(*client, "/b", "/c"), "none");
  for (const auto& [id, document] : stored()) EXPECT_LT(document.source.at("fence"), kMostExceeded) << id;
  expect_nothing_left(*client);
}

// Reported: a document without a name was moved and got an empty one; the page says that it is refused.
TEST_F(TreeForeignTest, ADocumentWithoutANameIsRefusedByItsId) {
  const auto client = open(Locking::kTree);
  server().expect("PUT", "/" + tree_index() + "/_doc/nn", R"({"path": "/nn", "other": 1})");
  const auto before = stored();
  EXPECT_THAT(refusal_of_move(*client, "/nn", "/nn2"), HasSubstr("the document nn of " + tree_index()));
  EXPECT_EQ(stored().at("nn").source, before.at("nn").source);
  expect_nothing_left(*client);
}

}  // namespace
}  // namespace lockstep
