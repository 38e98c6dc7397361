// The tree in a real engine, under each scheme of locking: what a change does, and what it refuses.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/locks/backends/elasticsearch/locks.h"
#include "replicator/tree/tree_change.h"
#include "tests/integration/tree_fixture.h"
#include "tests/support/recording_proxy.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Locking = TreeConfig::Locking;

constexpr seconds kWait{60};

class TreeSchemes : public TreeTest, public testing::WithParamInterface<Locking> {
 protected:
  TreeSchemes() : client_(open(GetParam())) {}

  Tree& tree() { return *client_->tree; }
  void move(const std::string& from, const std::string& to) {
    EXPECT_EQ(tree().move(TreePath(from), TreePath(to), {}), std::nullopt);
  }
  void put(const std::string& path, const std::string& contents = "contents") {
    EXPECT_EQ(tree().put(TreePath(path), contents, {}), std::nullopt);
  }
  void remove(const std::string& path) { EXPECT_EQ(tree().remove(TreePath(path), {}), std::nullopt); }

  template <class Change>
  std::optional<TreeError::Kind> error_of(const Change& change) {
    try {
      change();
    } catch (const TreeError& error) {
      return error.kind();
    }
    return std::nullopt;
  }
  std::vector<std::string> list(const std::string& path, TreeDepth depth = TreeDepth::kChildren) {
    std::vector<std::string> names;
    tree().list(TreePath(path), depth, [&](const TreeEntry& entry) {
      names.push_back((depth == TreeDepth::kAll ? entry.path : entry.name) + (entry.is_directory ? "/" : ""));
    });
    return names;
  }

  std::unique_ptr<TreeClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Locking, TreeSchemes,
                         testing::Values(Locking::kTree, Locking::kGlobal, Locking::kDocument), scheme_name);

TEST_P(TreeSchemes, AFileIsRenamedAndKeepsItsIdAndItsOtherFields) {
  write("1", "/clinton/projects/elasticsearch", "README.txt", {{"contents", "Starting a new project"}});
  write("2", "/clinton/projects/elasticsearch", "README", {{"contents", "another"}});
  move("/clinton/projects/elasticsearch/README.txt", "/clinton/projects/elasticsearch/README.asciidoc");
  const auto all = stored();
  EXPECT_EQ(all.at("1").path, "/clinton/projects/elasticsearch/README.asciidoc");
  EXPECT_EQ(all.at("1").source.at("contents"), "Starting a new project");
  EXPECT_GT(all.at("1").source.at("fence"), 0);
  EXPECT_EQ(all.at("2").path, "/clinton/projects/elasticsearch/README");
  EXPECT_FALSE(all.at("2").source.contains("fence"));
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, ADirectoryMovesWithEverythingBelowItAndNothingElse) {
  write("1", "/", "a", {{"kind", "directory"}});
  write("2", "/a", "f");
  write("3", "/a/b/c", "g");
  write("4", "/", "a.txt");
  write("5", "/ab", "f");
  write("6", "/x/a", "f");
  move("/a", "/new/place");
  EXPECT_THAT(paths(),
              ElementsAre("/a.txt", "/ab/f", "/new/place", "/new/place/b/c/g", "/new/place/f", "/x/a/f"));
  EXPECT_EQ(stored().at("1").source.at("kind"), "directory");
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, ALargeDirectoryMovesAndIsRemoved) {
  fill("/big/one", 2'500);
  write("other", "/big", "other");
  std::int64_t done = 0;
  std::int64_t total = 0;
  const TreeOptions options{.progress = [&](std::int64_t some, std::int64_t all) {
    done = some;
    total = all;
  }};
  EXPECT_EQ(tree().move(TreePath("/big/one"), TreePath("/two"), options), std::nullopt);
  EXPECT_EQ(done, 2'500);
  EXPECT_EQ(total, 2'500);
  EXPECT_EQ(count_below("/two"), 2'500);
  EXPECT_EQ(paths().size(), 2'501u);
  for (const auto& [id, document] : stored()) {
    if (id == "other") continue;
    EXPECT_EQ(document.source.at("contents"), "of " + id);
  }
  remove("/two");
  EXPECT_THAT(paths(), ElementsAre("/big/other"));
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, ALargeDirectoryMovesThoughADocumentHasItsFenceAsText) {
  fill("/big", 1'500);
  for (const char* id : {"7", "1400"})
    server().expect("POST", "/" + tree_index() + "/_update/" + id, R"({"doc": {"fence": "0"}})");
  move("/big", "/two");
  EXPECT_EQ(count_below("/two"), 1'500);
  EXPECT_GT(stored().at("7").source.at("fence"), 0);
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, PutWritesANewFileAndReplacesTheContentsOfOneThatIsThere) {
  put("/notes/today.txt", "first");
  auto all = stored();
  ASSERT_EQ(all.size(), 1u);
  const std::string id = all.begin()->first;
  EXPECT_EQ(all.at(id).path, "/notes/today.txt");
  EXPECT_EQ(all.at(id).source.at("contents"), "first");
  EXPECT_EQ(all.at(id).source.at("kind"), "file");
  const std::int64_t fence = all.at(id).source.at("fence");
  EXPECT_GT(fence, 0);

  server().expect("POST", "/" + tree_index() + "/_update/" + id, R"({"doc": {"owner": "clinton"}})");
  put("/notes/today.txt", "second \"quoted\"\n\tü");
  all = stored();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.at(id).source.at("contents"), "second \"quoted\"\n\tü");
  EXPECT_EQ(all.at(id).source.at("owner"), "clinton");
  EXPECT_GT(all.at(id).source.at("fence"), fence);
  put("/notes/today.txt", "");
  EXPECT_EQ(stored().at(id).source.at("contents"), "");
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, WhatCannotBeIsSaidAndNothingIsLeftLocked) {
  write("1", "/a", "f");
  write("2", "/b", "g");
  const auto before = stored();
  const auto options = TreeOptions{};
  using Kind = TreeError::Kind;
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/x"), TreePath("/y"), options); }), Kind::kNotFound);
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/x"), TreePath("/x"), options); }), Kind::kNotFound);
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/a"), TreePath("/b"), options); }), Kind::kExists);
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/a/f"), TreePath("/b/g"), options); }), Kind::kExists);
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/a"), TreePath("/a/c"), options); }), Kind::kIntoItself);
  EXPECT_EQ(error_of([&] { tree().move(TreePath("/a"), TreePath("/b/g/a"), options); }), Kind::kNotDirectory);
  EXPECT_EQ(error_of([&] { tree().put(TreePath("/a"), "", options); }), Kind::kIsDirectory);
  EXPECT_EQ(error_of([&] { tree().put(TreePath("/a/f/x"), "", options); }), Kind::kNotDirectory);
  EXPECT_EQ(error_of([&] { tree().remove(TreePath("/a/x"), options); }), Kind::kNotFound);
  EXPECT_EQ(error_of([&] { list("/a/x"); }), Kind::kNotFound);
  EXPECT_THROW(tree().move(TreePath("/"), TreePath("/x"), options), UsageError);
  EXPECT_THROW(tree().remove(TreePath("/"), options), UsageError);
  EXPECT_THROW(tree().put(TreePath("/x"), "\xff", options), UsageError);
  EXPECT_THROW(tree().put(TreePath("/x"), std::string(kMaxContentsBytes + 1, 'x'), options), UsageError);
  move("/a/f", "/a/f");
  EXPECT_EQ(stored().at("1").sequence_number, before.at("1").sequence_number);
  EXPECT_EQ(stored().size(), 2u);
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, ADirectoryIsMadeOnceAndStaysWhenItIsEmpty) {
  const auto make = [&](const char* path) { return tree().make_directory(TreePath(path), {}); };
  EXPECT_EQ(make("/a/b"), std::nullopt);
  EXPECT_THAT(list("/a"), ElementsAre("b/"));
  put("/a/b/f");
  remove("/a/b/f");
  EXPECT_THAT(list("/a"), ElementsAre("b/"));
  EXPECT_EQ(error_of([&] { make("/a/b"); }), TreeError::Kind::kExists);
  put("/a/f");
  EXPECT_EQ(error_of([&] { make("/a/f"); }), TreeError::Kind::kExists);
  EXPECT_EQ(error_of([&] { make("/a/f/d"); }), TreeError::Kind::kNotDirectory);
  EXPECT_EQ(make("/a"), std::nullopt) << "it had no document of its own";
  remove("/a/b");
  remove("/a/f");
  EXPECT_THAT(list("/"), ElementsAre("a/"));
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, ACopyHasAllFieldsAndReplacesNothing) {
  write("1", "/a", "f", {{"contents", "text"}, {"size", 4}, {"fence", 7}});
  const auto copy = [&](const char* from, const char* to) {
    return tree().copy(TreePath(from), TreePath(to), {});
  };
  EXPECT_EQ(copy("/a/f", "/b/g"), std::nullopt);
  EXPECT_EQ(tree().read(TreePath("/b/g")), "text");
  EXPECT_EQ(tree().read(TreePath("/a/f")), "text");
  for (const auto& [id, document] : stored()) {
    if (id == "1") continue;
    EXPECT_EQ(document.path, "/b/g");
    EXPECT_EQ(document.source.at("size"), 4);
    EXPECT_GT(document.source.at("fence"), 7);
  }
  EXPECT_EQ(stored().at("1").source.at("fence"), 7) << "the source is only read";
  EXPECT_EQ(error_of([&] { copy("/a/f", "/b/g"); }), TreeError::Kind::kExists);
  EXPECT_EQ(error_of([&] { copy("/a/f", "/a/f"); }), TreeError::Kind::kExists);
  EXPECT_EQ(error_of([&] { copy("/a/f", "/b/g/h"); }), TreeError::Kind::kNotDirectory);
  EXPECT_EQ(error_of([&] { copy("/a", "/c"); }), TreeError::Kind::kIsDirectory);
  EXPECT_EQ(error_of([&] { copy("/x", "/c"); }), TreeError::Kind::kNotFound);
  EXPECT_EQ(stored().size(), 2U);
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, FilesAreReadAndFoundByTheirContents) {
  put("/clinton/projects/README.txt", "Starting a new Elasticsearch project is easy");
  put("/clinton/notes.txt", "a new start\n");
  put("/hillary/notes.txt", "Elasticsearch: a new start");
  EXPECT_EQ(tree().read(TreePath("/clinton/notes.txt")), "a new start\n");
  EXPECT_EQ(error_of([&] { (void)tree().read(TreePath("/clinton")); }), TreeError::Kind::kIsDirectory);
  EXPECT_EQ(error_of([&] { (void)tree().read(TreePath("/x")); }), TreeError::Kind::kNotFound);
  const auto found = [&](const char* path, TreeDepth depth, const char* words) {
    std::vector<std::string> paths;
    tree().search(TreePath(path), depth, words, [&](const TreeEntry& entry) { paths.push_back(entry.path); });
    return paths;
  };
  EXPECT_THAT(found("/clinton", TreeDepth::kChildren, "a new"), ElementsAre("/clinton/notes.txt"));
  EXPECT_THAT(found("/clinton", TreeDepth::kAll, "a new"),
              ElementsAre("/clinton/notes.txt", "/clinton/projects/README.txt"));
  EXPECT_THAT(found("/", TreeDepth::kAll, "elasticsearch"),
              ElementsAre("/clinton/projects/README.txt", "/hillary/notes.txt"));
  EXPECT_THAT(found("/hillary/notes.txt", TreeDepth::kChildren, "new start"),
              ElementsAre("/hillary/notes.txt"));
  EXPECT_THAT(found("/", TreeDepth::kAll, "start new"), ElementsAre()) << "in this order";
  EXPECT_EQ(error_of([&] { found("/x", TreeDepth::kAll, "a"); }), TreeError::Kind::kNotFound);
}

TEST_P(TreeSchemes, AChangeThatIsRefusedTheLocksChangesNothing) {
  write("1", "/a", "f");
  write("2", "/a", "g");
  const auto before = stored();
  LockSet locks = tree_locks({"/a/f"});
  if (GetParam() == Locking::kGlobal) locks = global_lock();
  if (GetParam() == Locking::kDocument) locks = document_locks({"1"});
  const auto other = open(GetParam());
  Operation holder = other->locks->open({}, locks);
  ASSERT_EQ(other->locks->try_acquire(holder, milliseconds(0)), std::nullopt);

  const std::optional<Refusal> refusal = tree().move(TreePath("/a"), TreePath("/b"), {});
  ASSERT_TRUE(refusal);
  EXPECT_THAT(text_of(*refusal), HasSubstr(holder.id));
  EXPECT_TRUE(tree().put(TreePath("/a/f"), "new", {}));
  EXPECT_TRUE(tree().remove(TreePath("/a"), {.wait = milliseconds(50)}));
  EXPECT_EQ(stored().at("1").sequence_number, before.at("1").sequence_number);
  EXPECT_EQ(stored().size(), 2u);

  std::jthread waiter(
      [&] { EXPECT_EQ(tree().move(TreePath("/a"), TreePath("/b"), {.wait = kWait}), std::nullopt); });
  ASSERT_TRUE(support::wait_until([&] { return other->locks->unresolved().size() == 2; }, kPatience));
  other->locks->finish(holder, OperationState::kAborted, "");
  other->locks->release(holder);
  waiter.join();
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g"));
  expect_nothing_left(*client_);
}

TEST_P(TreeSchemes, AListShowsWhatIsThereInOrderWhateverItsSize) {
  EXPECT_THAT(list("/"), ElementsAre());
  write("1", "/", "b", {{"kind", "directory"}});
  write("2", "/b", "z");
  write("3", "/b/c/d", "deep");
  write("4", "/b", "a");
  write("5", "/b/c-1", "f");
  write("6", "/b", "c", {{"kind", "directory"}});
  write("7", "/", "empty", {{"kind", "directory"}});
  EXPECT_THAT(list("/"), ElementsAre("b/", "empty/"));
  EXPECT_THAT(list("/b"), ElementsAre("a", "c/", "c-1/", "z"));
  EXPECT_THAT(list("/b/c"), ElementsAre("d/"));
  EXPECT_THAT(list("/b/a"), ElementsAre("a"));
  EXPECT_THAT(list("/empty"), ElementsAre());
  EXPECT_THAT(list("/", TreeDepth::kAll),
              ElementsAre("/b/", "/empty/", "/b/a", "/b/c/", "/b/z", "/b/c-1/f", "/b/c/d/deep"));
  EXPECT_THAT(list("/b/c", TreeDepth::kAll), ElementsAre("/b/c/d/deep"));

  fill("/many", 2'500);
  EXPECT_EQ(list("/many", TreeDepth::kAll).size(), 2'500u);
  const std::vector<std::string> names = list("/many");
  EXPECT_EQ(names.size(), 2'500u / 3 + 7);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end(), [](std::string a, std::string b) {
    if (a.ends_with('/')) a.pop_back();
    if (b.ends_with('/')) b.pop_back();
    return a < b;
  }));
}

TEST_P(TreeSchemes, ManyDirectoriesBelowADirectoryAreListedOnceEach) {
  std::string body;
  for (int i = 0; i < 2'400; ++i) {
    body += "{\"index\":{}}\n{\"path\":\"/top/d" + std::to_string(i % 3) + "/e" + std::to_string(i) +
            "\",\"name\":\"f\"}\n";
  }
  server().expect("POST", "/" + tree_index() + "/_bulk", body);
  EXPECT_THAT(list("/top"), ElementsAre("d0/", "d1/", "d2/"));
  EXPECT_THAT(list("/"), ElementsAre("top/"));
  EXPECT_EQ(list("/top/d1").size(), 800u);
}

/// The real engine, which says that it has no painless.
class WithoutPainless final : public HttpTransport {
 public:
  explicit WithoutPainless(const ElasticsearchConfig& config)
      : transport_(make_transport_factory(config)()) {}

  HttpResponse perform(const HttpRequest& request) override {
    if (request.path.starts_with("/_cluster/state/metadata")) return {200, "{}"};
    if (request.path == "/_script_language") return {200, R"({"types_allowed": ["stored"]})"};
    EXPECT_FALSE(request.body.find("\"script\"") != std::string_view::npos) << request.path;
    EXPECT_FALSE(request.path.find("_by_query") != std::string::npos) << request.path;
    return transport_->perform(request);
  }

 private:
  std::unique_ptr<HttpTransport> transport_;
};

TEST_F(TreeTest, ContentsThatWereSentToTwoNodesArePutOnce) {
  support::RecordingProxy proxy;
  Config two_nodes = config(Locking::kTree);
  two_nodes.elasticsearch.urls = {proxy.url(), support::elasticsearch_url()};
  TreeClient client(two_nodes);
  std::atomic<bool> lost = false;
  const std::string staging = "/" + tree_index() + "/_create/";
  proxy.disturb([&](const support::HttpMessage& request) -> std::optional<support::Disturbance> {
    if (!request.target().starts_with(staging) || lost.exchange(true)) return std::nullopt;
    return support::Disturbance{.lose_reply = true};
  });
  EXPECT_EQ(client.tree->put(TreePath("/f"), "contents", {}), std::nullopt);
  EXPECT_TRUE(lost);
  EXPECT_EQ(paths(), std::multiset<std::string>{"/f"});
  expect_nothing_left(client);
}

TEST_F(TreeTest, AnEngineWithoutPainlessServesUnderGlobalAndDocumentLocking) {
  for (const Locking locking : {Locking::kGlobal, Locking::kDocument}) {
    const Config config = this->config(locking);
    ElasticsearchLocks locks(std::make_unique<WithoutPainless>(config.elasticsearch),
                             lock_indices(config.locks.index), kLong, seconds(30));
    Tree tree(locks, std::make_unique<WithoutPainless>(config.elasticsearch), config.tree, seconds(30));
    tree.prepare();
    fill("/a", 2'500);
    EXPECT_EQ(tree.move(TreePath("/a"), TreePath("/b"), {}), std::nullopt);
    EXPECT_EQ(tree.put(TreePath("/b/new"), "x", {}), std::nullopt);
    EXPECT_EQ(count_below("/b"), 2'501);
    EXPECT_EQ(tree.remove(TreePath("/b"), {}), std::nullopt);
    EXPECT_EQ(stored().size(), 0u);
  }
}

class TreeIndexTest : public TreeTest {
 protected:
  static std::string shipped_mapping() {
    std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/config/fs.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set(const json& settings) const {
    server().expect("PUT", "/" + tree_index() + "/_settings", settings.dump());
  }
  std::string refusal() {
    try {
      (void)open(Locking::kTree);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  /// What those who only read say, each the same.
  std::string refusal_to_read() const {
    const Config its_config = config(Locking::kTree);
    const std::unique_ptr<LockManager> locks = open_locks(its_config);
    const std::unique_ptr<Tree> tree = open_tree(its_config, *locks);
    const auto ignore = [](const TreeEntry&) {};
    std::set<std::string> all;
    const std::function<void()> readers[] = {
        [&] { tree->list(TreePath("/"), TreeDepth::kChildren, ignore); },
        [&] { (void)tree->read(TreePath("/f")); },
        [&] { tree->search(TreePath("/"), TreeDepth::kAll, "word", ignore); }};
    for (const auto& reader : readers) {
      try {
        reader();
        all.insert("none");
      } catch (const TreeError&) {
        all.insert("none");
      } catch (const Error& error) {
        all.insert(error.what());
      }
    }
    return all.size() == 1 ? *all.begin() : "they differ";
  }
};

TEST_F(TreeIndexTest, AnIndexWithTheExamplesStrictMappingServes) {
  server().expect("PUT", "/" + tree_index(), shipped_mapping());
  write("1", "/a", "f", {{"kind", "file"}});
  const auto client = open(Locking::kTree);
  EXPECT_EQ(client->tree->move(TreePath("/a"), TreePath("/b"), {}), std::nullopt);
  EXPECT_EQ(client->tree->put(TreePath("/b/g"), "x", {}), std::nullopt);
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g"));
}

TEST_F(TreeIndexTest, AMissingIndexIsMadeWithTheExamplesMapping) {
  (void)open(Locking::kTree);
  const json made = server()
                        .expect("GET", "/" + tree_index() + "/_mapping")
                        .at(tree_index())
                        .at("mappings")
                        .at("properties");
  json expected = json::parse(shipped_mapping()).at("mappings").at("properties");
  expected["fence"] = {{"type", "long"}};
  EXPECT_EQ(made, expected);
  (void)open(Locking::kTree);
}

TEST_F(TreeIndexTest, AnIndexThatCannotServeIsRefused) {
  server().expect("PUT", "/" + tree_index(), R"({"mappings": {"properties": {"path": {"type": "text"}}}})");
  EXPECT_THAT(refusal(), HasSubstr("is not mapped as a keyword"));
  server().expect("DELETE", "/" + tree_index());
  json mapping = json::parse(shipped_mapping());
  mapping["mappings"]["_meta"]["lockstep"] = {{"pipeline", "fs"}};
  server().expect("PUT", "/" + tree_index(), mapping.dump());
  EXPECT_THAT(refusal(), HasSubstr("a pipeline fills it"));
  EXPECT_EQ(refusal_to_read(), "none");
}

// Reported: `grep` said "put a file, which adds the field", and after the put the same again.
TEST_F(TreeIndexTest, ContentsThatCannotBeSearchedAreNotToldToBeAdded) {
  json mapping = json::parse(shipped_mapping());
  mapping["mappings"]["properties"]["contents"] = {{"type", "text"}, {"index", false}};
  server().expect("PUT", "/" + tree_index(), mapping.dump());
  EXPECT_EQ(refusal(), "none");
  const Config its_config = config(Locking::kTree);
  const std::unique_ptr<LockManager> locks = open_locks(its_config);
  try {
    open_tree(its_config, *locks)->search(TreePath("/"), TreeDepth::kAll, "word", [](const TreeEntry&) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("a field \"contents\" that cannot be searched; map it as config/fs.json"));
  }
}

// Reported: `tree rm /data` removed /Data, too, where path.tree folds case.
TEST_F(TreeIndexTest, OnlyTheNamedTreeIsChangedWhateverTheSearchFinds) {
  json mapping = json::parse(shipped_mapping());
  mapping["settings"]["analysis"]["analyzer"]["paths"]["filter"] = {"lowercase"};
  mapping["mappings"]["properties"]["fence"] = {{"type", "text"}};
  server().expect("PUT", "/" + tree_index(), mapping.dump());
  fill("/Data", 1'100);
  std::string body;
  for (int i = 0; i < 1'100; ++i)
    body += "{\"index\":{}}\n{\"path\":\"/data\",\"name\":\"g" + std::to_string(i) + "\",\"fence\":\"7\"}\n";
  server().expect("POST", "/" + tree_index() + "/_bulk", body);
  const auto client = open(Locking::kTree);
  EXPECT_EQ(client->tree->remove(TreePath("/data"), {}), std::nullopt);
  EXPECT_EQ(count_below("/Data"), 1'100);
  EXPECT_EQ(stored().size(), 1'100u);
  // Had the search found it.
  const json task =
      TreeChange({.kind = TreeIntent::Kind::kRemove, .path = TreePath("/data")}).task(kMaxToken);
  json all = task;
  all["query"] = {{"match_all", json::object()}};
  const json reply = server().expect("POST", "/" + tree_index() + "/_update_by_query", all.dump());
  EXPECT_EQ(reply.at("noops"), 1'100);
  EXPECT_EQ(reply.at("deleted"), 0);
}

TEST_F(TreeIndexTest, AMappingThatCannotTellPathsApartIsRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](const json& change) {
    json mapping = json::parse(shipped_mapping());
    mapping["settings"]["analysis"]["normalizer"]["fold"] = {{"type", "custom"}, {"filter", {"lowercase"}}};
    mapping.merge_patch(change);
    server().expect("PUT", "/" + tree_index(), mapping.dump());
    const json before = server().expect("GET", "/" + tree_index() + "/_mapping");
    // Reported: `ls` answered wrongly where `rm` refused.
    const std::string read = refusal_to_read();
    const std::string text = refusal();
    EXPECT_EQ(read, text);
    if (text != "none") EXPECT_EQ(server().expect("GET", "/" + tree_index() + "/_mapping"), before);
    server().expect("DELETE", "/" + tree_index());
    return text;
  };
  const auto field = [](const char* name, const json& more) {
    return json{{"mappings", {{"properties", {{name, more}}}}}};
  };
  EXPECT_THAT(refused(field("path", {{"type", "text"}, {"fielddata", true}, {"ignore_above", nullptr}})),
              HasSubstr("its field \"path\" is not mapped as a keyword; map it as config/fs.json does"));
  EXPECT_THAT(refused(field("path", {{"normalizer", "fold"}})),
              HasSubstr("its field \"path\" has a normalizer"));
  EXPECT_THAT(refused(field("name", {{"normalizer", "fold"}})),
              HasSubstr("its field \"name\" has a normalizer"));
  EXPECT_THAT(refused(field("path", {{"ignore_above", 1'000}})), HasSubstr("\"path\" has ignore_above 1000"));
  EXPECT_THAT(refused(field("path", {{"index", false}})), HasSubstr("\"path\" is not indexed"));
  EXPECT_THAT(refused(field("fence", {{"type", "integer"}})), HasSubstr("\"fence\" is mapped as integer"));
  EXPECT_THAT(refused(field("contents", {{"type", "nested"}})),
              HasSubstr("\"contents\" is mapped as an object"));
  EXPECT_THAT(refused({{"mappings", {{"_routing", {{"required", true}}}}}}), HasSubstr("requires a routing"));
  EXPECT_THAT(refused({{"mappings", {{"_source", {{"excludes", {"contents"}}}}}}}),
              HasSubstr("a change would lose fields"));
  EXPECT_EQ(refused(json::object()), "none");
}

// Reported: a move of a large directory went through the index's ingest pipeline, a move of a small one did
// not. Where the pipeline did not work, the move had committed and nobody could finish it.
TEST_F(TreeIndexTest, WhatIsWrittenPassesByTheDefaultPipeline) {
  server().expect("PUT", "/" + tree_index(), shipped_mapping());
  fill("/large", 1'100);
  set({{"index.default_pipeline", "lockstep-test-missing"}});  // whatever goes through it fails
  const auto client = open(Locking::kTree);
  EXPECT_EQ(client->tree->move(TreePath("/large"), TreePath("/moved"), {}), std::nullopt);
  EXPECT_EQ(count_below("/moved"), 1'100);
  EXPECT_EQ(client->tree->put(TreePath("/new"), "x", {}), std::nullopt);
  EXPECT_EQ(client->tree->copy(TreePath("/new"), TreePath("/copy"), {}), std::nullopt);
}

// Reported: a move in an index that is blocked against writes committed, failed, and left its locks.
TEST_F(TreeIndexTest, AnIndexThatDoesNotTakeDocumentsAsTheyAreIsRefusedBeforeAnythingIsLocked) {
  server().expect("PUT", "/" + tree_index(), shipped_mapping());
  const std::string text = "; set it to null, or name another index in [tree] index";
  for (const std::string block : {"write", "read_only", "read_only_allow_delete"}) {
    const std::string setting = "index.blocks." + block;
    set({{setting, true}});
    EXPECT_THAT(refusal(), HasSubstr("is read-only: it has " + setting));
    set({{setting, nullptr}});
  }
  set({{"index.final_pipeline", "lockstep-test-missing"}});
  EXPECT_THAT(refusal(),
              HasSubstr("its final_pipeline \"lockstep-test-missing\" may change the documents" + text));
  set({{"index.final_pipeline", "_none"}});
  EXPECT_EQ(refusal(), "none");
}

TEST_F(TreeIndexTest, ADocumentWithSeveralPathsIsNamedBeforeAnythingIsWritten) {
  const auto client = open(Locking::kTree);
  fill("/a", 1'100);
  server().expect("PUT", "/" + tree_index() + "/_doc/both", R"({"path": ["/a", "/b"], "name": "f"})");
  try {
    (void)client->tree->move(TreePath("/a"), TreePath("/c"), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the document both of " + tree_index() + ": its path is [\"/a\",\"/b\"]"));
  }
  server().expect("POST", "/" + tree_index() + "/_refresh");
  EXPECT_EQ(server()
                .expect("POST", "/" + tree_index() + "/_count", R"({"query": {"prefix": {"path": "/c"}}})")
                .at("count"),
            0);
  server().expect("DELETE", "/" + tree_index() + "/_doc/both");
  expect_nothing_left(*client);
}

TEST_F(TreeIndexTest, APathHasUpTo4096BytesHoweverDeepItIs) {
  const auto client = open(Locking::kTree, std::chrono::minutes(5));
  std::string wide;
  while (wide.size() < 4'096) wide += "/" + std::string(255, 'w');
  wide.resize(4'096);
  std::string deep;
  while (deep.size() < 4'096) deep += "/d";
  for (const std::string& path : {wide, deep}) {
    EXPECT_EQ(client->tree->put(TreePath(path), "x", {}), std::nullopt);
    EXPECT_EQ(paths(), std::multiset<std::string>{path});
    const TreePath above(path.substr(0, path.rfind('/')));
    std::vector<std::string> listed;
    write("beside", above.directory() + "/" + above.name().substr(1) + "x", "f");
    for (const TreeDepth depth : {TreeDepth::kChildren, TreeDepth::kAll}) {
      client->tree->list(above, depth, [&](const TreeEntry& entry) { listed.push_back(entry.path); });
      client->tree->list(TreePath(above.directory()), depth, [&](const TreeEntry& entry) {
        listed.push_back(entry.is_directory ? "directory" : "file");
      });
    }
    server().expect("DELETE", "/" + tree_index() + "/_doc/beside");
    EXPECT_THAT(listed, ElementsAre(path, "directory", "directory", path, "file", "file"));
    EXPECT_EQ(client->tree->move(TreePath(path), TreePath("/short"), {}), std::nullopt);
    EXPECT_EQ(client->tree->move(TreePath("/short"), TreePath(path.substr(0, 4'000)), {}), std::nullopt);
    EXPECT_EQ(client->tree->remove(TreePath(path.substr(0, path.find('/', 1))), {}), std::nullopt)
        << "the directory at the top";
    EXPECT_EQ(paths().size(), 0u);
  }
}

TEST_F(TreeIndexTest, AListNeedsNoIndex) {
  const Config config = this->config(Locking::kTree);
  const auto locks = open_locks(config);
  const auto tree = open_tree(config, *locks);
  int entries = 0;
  tree->list(TreePath("/"), TreeDepth::kAll, [&](const TreeEntry&) { ++entries; });
  EXPECT_EQ(entries, 0);
  EXPECT_THROW(tree->list(TreePath("/a"), TreeDepth::kAll, [](const TreeEntry&) {}), TreeError);
  EXPECT_EQ(server().request("HEAD", "/" + tree_index()).status, 404);
}

}  // namespace
}  // namespace lockstep
