// One side is exchanged behind the other's back while the program runs: a snapshot over the index, another
// index behind the alias, a dump over the database.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class ExchangedPartner : public BlogTest {
 protected:
  nlohmann::json ask(const std::string& method, const std::string& path, const std::string& body = {}) {
    return posts_.server().expect(method, path, body);
  }

  bool waits_because(const std::string& reason) {
    const auto waits = [&] {
      const nlohmann::json status = pipeline_.status();
      return status.at("state") == "waiting_for_elasticsearch" &&
             status.at("reason").get<std::string>().find(reason) != std::string::npos;
    };
    return wait_until(waits, kPatience) && program_->running();
  }

  /// Starts it again as a service manager does, until the index is what the view gives.
  testing::AssertionResult becomes_equal_whatever_ends() {
    const auto healed = [&] {
      if (!program_->running()) program_ = pipeline_.start();
      return pipeline_.difference().empty();
    };
    if (wait_until(healed, kPatience)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << pipeline_.difference();
  }
};

// `scripts/engine` gives every engine a folder for snapshots.
class Snapshots {
 public:
  explicit Snapshots(ElasticsearchServer& server) : server_(server) {
    const nlohmann::json nodes = server_.expect("GET", "/_nodes/settings").at("nodes");
    const nlohmann::json& paths = nodes.begin()->at("settings").at("path").at("repo");
    const std::string path = paths.is_array() ? paths.at(0) : paths;
    server_.expect("PUT", "/_snapshot/lockstep-test",
                   nlohmann::json{{"type", "fs"}, {"settings", {{"location", path}}}}.dump());
  }
  ~Snapshots() {
    server_.request("DELETE", "/_snapshot/lockstep-test/one");
    server_.request("DELETE", "/_snapshot/lockstep-test");
  }
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  void take(const std::string& index) { call("?wait_for_completion=true", index); }
  void restore(const std::string& index) { call("/_restore?wait_for_completion=true", index); }

 private:
  void call(const std::string& what, const std::string& index) {
    server_.expect(what.starts_with('?') ? "PUT" : "POST", "/_snapshot/lockstep-test/one" + what,
                   nlohmann::json{{"indices", index}, {"include_global_state", false}}.dump());
  }

  ElasticsearchServer& server_;
};

// The index keeps its uuid, and its mark is one of the present leadership.
TEST_F(ExchangedPartner, ASnapshotThatIsRestoredOverTheIndexIsNoticedByTheRunningLeader) {
  follow();
  ASSERT_TRUE(becomes_equal());
  const std::string index = posts_.concrete().front();
  Snapshots snapshots(posts_.server());
  snapshots.take(index);
  execute(
      "update blog.posts set title = 'after the snapshot' where id <= 10; delete from blog.posts where id = "
      "11");
  ASSERT_TRUE(becomes_equal());
  ask("POST", "/" + index + "/_close");
  proxy_.history().index_deleted(index);  // the sequence numbers go back with it
  snapshots.restore(index);
  EXPECT_TRUE(becomes_equal()) << "nothing has changed since";
}

// The leader went on writing there, and the next start refused.
// Writes went to other shards, deletes missed, and `verify` saw what the filter let through.
TEST_F(ExchangedPartner, AnAliasThatIsGivenARoutingOrAFilterIsWrittenNoMoreUntilItIsRight) {
  follow();
  ASSERT_TRUE(becomes_equal());
  for (const nlohmann::json& more :
       {nlohmann::json{{"routing", "1"}},
        nlohmann::json{{"filter", {{"match_none", nlohmann::json::object()}}}}}) {
    const auto alias = [&](nlohmann::json action) {
      action["index"] = posts_.concrete().front();
      action["alias"] = posts_.alias();
      ask("POST", "/_aliases", nlohmann::json{{"actions", {{{"add", action}}}}}.dump());
    };
    alias(more);
    ASSERT_TRUE(waits_because("has a filter or a routing")) << program_->err();
    EXPECT_NE(pipeline_.lockstep("check").out.find("has a filter or a routing"), std::string::npos);
    ask("POST", "/_aliases",
        nlohmann::json{{"actions",
                        {{{"remove", {{"index", posts_.concrete().front()}, {"alias", posts_.alias()}}}},
                         {{"add", {{"index", posts_.concrete().front()}, {"alias", posts_.alias()}}}}}}}
            .dump());
    EXPECT_TRUE(becomes_equal());
  }
}

TEST_F(ExchangedPartner, AnAliasThatIsMovedToACopyWithoutOurMarkIsWrittenNoMoreUntilItIsBack) {
  follow();
  ASSERT_TRUE(becomes_equal());
  const std::string index = posts_.concrete().front();
  const std::string copy = posts_.alias() + "-copy";
  ask("PUT", "/" + copy, R"({"settings": {"number_of_replicas": 0}})");
  ask("POST", "/_reindex?refresh=true",
      nlohmann::json{{"source", {{"index", index}}}, {"dest", {{"index", copy}}}}.dump());
  const auto move = [&](const std::string& from, const std::string& to) {
    ask("POST", "/_aliases",
        nlohmann::json{{"actions",
                        {{{"remove", {{"index", from}, {"alias", posts_.alias()}}}},
                         {{"add", {{"index", to}, {"alias", posts_.alias()}}}}}}}
            .dump());
  };
  move(index, copy);
  execute("update blog.posts set title = 'written into the copy' where id = 1");
  ASSERT_TRUE(waits_because("move " + posts_.alias() + " back")) << program_->err();
  move(copy, index);
  EXPECT_TRUE(becomes_equal()) << "what was written into the copy is missing";
}

// Reported: `status` showed "following", and `wait` ended with 0, until the next change.
TEST_F(ExchangedPartner, AnIndexThatIsDeletedWhileNothingChangesIsReported) {
  follow();
  ASSERT_TRUE(becomes_equal());
  ask("DELETE", "/" + posts_.concrete().front());
  ASSERT_TRUE(waits_because("there is no index")) << program_->err();
  pipeline_.apply();
  EXPECT_TRUE(becomes_equal());
}

// Place, timeline and epoch stay the same, and no trigger tells which rows have gone back.
TEST_F(ExchangedPartner, ADumpThatIsRestoredOverTheDatabaseIsNoticedByTheRunningLeader) {
  follow();
  ASSERT_TRUE(becomes_equal());
  const TemporaryFolder folder;
  const std::string dump = (folder.path() / "dump").string();
  ASSERT_EQ(run_program("pg_dump", {"-Fc", "-f", dump, database_.url()}).exit_code, 0);
  execute(
      "update blog.posts set title = 'after the dump' where id <= 10; delete from blog.posts where id = 11");
  ASSERT_TRUE(becomes_equal());
  const Completed restored = run_program(
      "pg_restore", {"--clean", "--if-exists", "--single-transaction", "-d", database_.url(), dump});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_TRUE(becomes_equal_whatever_ends());
}

}  // namespace
}  // namespace lockstep::support
