#include "replicator/tree/tree_change.h"

#include <gtest/gtest.h>

#include "replicator/tree/tree_writes.h"

namespace lockstep {
namespace {

const TreePath kFrom("/a/b");
const TreePath kTo("/c");

TreeDocument document(const std::string& path, const std::string& name) {
  return {.id = "1", .path = path, .name = name};
}

std::string place_of(const TreeDocument& document) {
  const TreePlace place = moved(document, kFrom, kTo);
  return joined_path(place.path, place.name);
}

TEST(TreeChangeTest, ADirectoryMovesWithEverythingBelowIt) {
  EXPECT_EQ(place_of(document("/a", "b")), "/c");
  EXPECT_EQ(moved(document("/a", "b"), kFrom, kTo).path, "/");
  EXPECT_EQ(place_of(document("/a/b", "f")), "/c/f");
  EXPECT_EQ(place_of(document("/a/b/d/e", "f")), "/c/d/e/f");
  EXPECT_EQ(place_of(document("/a/b", "b")), "/c/b");
}

TEST(TreeChangeTest, NamesakesAreNotBelow) {
  EXPECT_TRUE(document("/a", "b").is_at_or_below(kFrom));
  EXPECT_TRUE(document("/a/b", "x").is_at_or_below(kFrom));
  EXPECT_TRUE(document("/a/b/c", "x").is_at_or_below(kFrom));
  for (const TreeDocument& other : {document("/a", "bc"), document("/a", "c"), document("/a/bc", "x"),
                                    document("/", "b"), document("/", "a"), document("/x/a/b", "c")}) {
    EXPECT_FALSE(other.is_at_or_below(kFrom)) << other.path << " " << other.name;
  }
}

TEST(TreeChangeTest, TheServerIsToldThePathsTheTokenAndWhereTo) {
  const TreeChange removal({.kind = TreeIntent::Kind::kRemove, .path = TreePath("/a/b")});
  const nlohmann::json gone = removal.task(17).at("script").at("params");
  EXPECT_EQ(gone.at("from"), "/a/b");
  EXPECT_EQ(gone.at("from_directory"), "/a");
  EXPECT_EQ(gone.at("from_name"), "b");
  EXPECT_TRUE(gone.at("to").is_null());
  EXPECT_EQ(gone.at("token"), 17);
  const TreeChange move({.kind = TreeIntent::Kind::kMove, .path = kFrom, .to = kTo});
  const nlohmann::json moved = move.task(17).at("script").at("params");
  EXPECT_EQ(moved.at("to"), "/c");
  EXPECT_EQ(moved.at("to_directory"), "/");
  EXPECT_EQ(moved.at("to_name"), "c");
}

TreeScope scope_with(const LockSet& locks) {
  Operation operation;
  operation.locks = locks;
  return TreeScope(operation, {.path = kFrom, .to = kTo});
}

TEST(TreeScopeTest, UnderDocumentLocksOnlyWhatIsLockedIsConcerned) {
  EXPECT_FALSE(scope_with(tree_locks({"/a", "/b"})).locked);
  EXPECT_FALSE(scope_with(global_lock()).locked);
  const TreeScope scope = scope_with(document_locks({"/a", "/b", "17"}));
  ASSERT_TRUE(scope.locked);
  EXPECT_TRUE(scope.locked->contains("17"));
  EXPECT_FALSE(scope.locked->contains("18"));
}

}  // namespace
}  // namespace lockstep
