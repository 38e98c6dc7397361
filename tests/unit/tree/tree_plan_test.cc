// The locks that each scheme takes, with the tree of a fake engine.
#include "replicator/tree/tree_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "replicator/tree/tree_error.h"
#include "tests/unit/locks/lock_set_text.h"

namespace lockstep {
namespace {

using nlohmann::json;

json reply(const json& hits, int total) {
  return {{"timed_out", false},
          {"_shards", {{"failed", 0}}},
          {"hits", {{"total", {{"value", total}}}, {"hits", hits}}}};
}

json hit(const std::string& id, const std::string& path, const std::string& name) {
  return {{"_id", id}, {"_seq_no", 1}, {"_primary_term", 1}, {"_source", {{"path", path}, {"name", name}}}};
}

/// Has the directory /a with the documents 1 (/a/f) and 2 (/a/s/g), and the file /f (3).
class MadeUpEngine final : public HttpTransport {
 public:
  HttpResponse perform(const HttpRequest& request) override {
    if (request.path.ends_with("/_refresh")) return {200, "{}"};
    if (request.path.find("/_search") != std::string::npos) return {200, search(request.body).dump()};
    json responses = json::array();
    std::string_view lines = request.body;
    while (!lines.empty()) {
      lines.remove_prefix(lines.find('\n') + 1);  // the header
      responses.push_back(search(lines.substr(0, lines.find('\n'))));
      lines.remove_prefix(lines.find('\n') + 1);
    }
    return {200, json{{"responses", responses}}.dump()};
  }

 private:
  static json search(std::string_view body) {
    const std::string query = json::parse(body).at("query").dump();
    const auto asks = [&](const std::string& text) { return query.find(text) != std::string::npos; };
    const bool everything_below_a = asks(R"("path":"/a/")");
    if (everything_below_a) return reply(json::array({hit("1", "/a", "f"), hit("2", "/a/s", "g")}), 2);
    const bool asks_for_f = asks(R"("name":"f")") && asks(R"("path":"/")");
    const bool asks_for_files = asks(R"("name":["f")") && asks(R"("path":["/")");
    if (asks_for_f || asks_for_files) return reply(json::array({hit("3", "/", "f")}), 1);
    return reply(json::array(), 0);
  }
};

class TreePlanTest : public testing::Test {
 protected:
  std::string locks(TreeConfig::Locking locking, const TreeIntent& intent) {
    return text_of(TreePlanner(documents_, locking).locks_for(intent));
  }

  ElasticsearchClient client_{std::make_unique<MadeUpEngine>()};
  TreeDocuments documents_{client_, "fs"};
  static TreeIntent move(const char* from, const char* to) {
    return {.kind = TreeIntent::Kind::kMove, .path = TreePath(from), .to = TreePath(to)};
  }
  static TreeIntent removal(const char* path) {
    return {.kind = TreeIntent::Kind::kRemove, .path = TreePath(path)};
  }
  static TreeIntent put(const char* path) { return {.kind = TreeIntent::Kind::kPut, .path = TreePath(path)}; }

  const TreeIntent move_ = move("/a", "/b/c");
  const TreeIntent removal_ = removal("/f");
  const TreeIntent put_ = put("/n/new");
};

TEST_F(TreePlanTest, TreeLockingLocksSourceAndTargetAndSharesWhatIsAbove) {
  EXPECT_EQ(locks(TreeConfig::Locking::kTree, move_), "S/ X/a S/b X/b/c");
  EXPECT_EQ(locks(TreeConfig::Locking::kTree, removal_), "S/ X/f");
  EXPECT_EQ(locks(TreeConfig::Locking::kTree, put_), "S/ S/n X/n/new");
}

TEST_F(TreePlanTest, GlobalLockingHasOneLock) {
  for (const TreeIntent* intent : {&move_, &removal_, &put_})
    EXPECT_EQ(locks(TreeConfig::Locking::kGlobal, *intent), "Xglobal");
}

TEST_F(TreePlanTest, DocumentLockingLocksTheDocumentsAndWhereTheyGo) {
  EXPECT_EQ(locks(TreeConfig::Locking::kDocument, move_), "X/a X/b/c X/b/c/f X/b/c/s/g X1 X2");
  EXPECT_EQ(locks(TreeConfig::Locking::kDocument, removal_), "X/f X3");
  EXPECT_EQ(locks(TreeConfig::Locking::kDocument, put_), "X/n/new");
}

TEST_F(TreePlanTest, DocumentsThatCameAfterTheLockingAreNotCovered) {
  TreePlanner planner(documents_, TreeConfig::Locking::kDocument);
  const LockSet locks = planner.locks_for(move_);
  EXPECT_TRUE(planner.covers(locks, move_, planner.plan(move_)));
  TreePlan plan = planner.plan(move_);
  plan.known.push_back({.id = "4", .path = "/a", .name = "late"});
  EXPECT_FALSE(planner.covers(locks, move_, plan));
}

TEST_F(TreePlanTest, WhatTheTreeDoesNotAllowIsSaidAsAFileSystemSaysIt) {
  TreePlanner planner(documents_, TreeConfig::Locking::kTree);
  const auto kind = [&](const TreeIntent& intent) -> std::optional<TreeError::Kind> {
    try {
      (void)planner.plan(intent);
    } catch (const TreeError& error) {
      return error.kind();
    }
    return std::nullopt;
  };
  EXPECT_EQ(kind(move("/x", "/y")), TreeError::Kind::kNotFound);
  EXPECT_EQ(kind(move("/a", "/f")), TreeError::Kind::kExists);
  EXPECT_EQ(kind(move("/f", "/a")), TreeError::Kind::kExists);
  EXPECT_EQ(kind(move("/a", "/f/a")), TreeError::Kind::kNotDirectory);
  EXPECT_EQ(kind(removal("/x")), TreeError::Kind::kNotFound);
  EXPECT_EQ(kind(put("/a")), TreeError::Kind::kIsDirectory);
  EXPECT_EQ(kind(put("/f/x")), TreeError::Kind::kNotDirectory);
  EXPECT_EQ(kind(move_), std::nullopt);
}

}  // namespace
}  // namespace lockstep
