#include "replicator/tree/tree_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TreePathTest, APathIsADirectoryAndANameInIt) {
  const TreePath path("/clinton/projects/elasticsearch");
  EXPECT_EQ(path.directory(), "/clinton/projects");
  EXPECT_EQ(path.name(), "elasticsearch");
  EXPECT_EQ(TreePath("/clinton").directory(), "/");
  EXPECT_EQ(TreePath("/clinton").name(), "clinton");
  EXPECT_EQ(joined_path("/", "clinton"), "/clinton");
  EXPECT_EQ(joined_path("/clinton", "projects"), "/clinton/projects");
  EXPECT_EQ(TreePath("/clinton") / "a b", TreePath("/clinton/a b"));
  EXPECT_EQ(TreePath("/") / "etc", TreePath("/etc"));
}

TEST(TreePathTest, ASlashAtTheEndIsTakenOff) {
  EXPECT_EQ(TreePath("/clinton/").text(), "/clinton");
  EXPECT_TRUE(TreePath("/").is_root());
}

TEST(TreePathTest, WhatIsAboveEndsBelowTheRoot) {
  EXPECT_THAT(TreePath("/a/b/c").above(), ElementsAre(TreePath("/a"), TreePath("/a/b")));
  EXPECT_THAT(TreePath("/a").above(), IsEmpty());
  EXPECT_THAT(TreePath("/").above(), IsEmpty());
}

TEST(TreePathTest, ADirectoryContainsWhatLiesBelowItAndNotItsNamesakes) {
  EXPECT_TRUE(TreePath("/a").contains(TreePath("/a/b")));
  EXPECT_TRUE(TreePath("/a").contains(TreePath("/a/b/c")));
  EXPECT_FALSE(TreePath("/a").contains(TreePath("/a")));
  EXPECT_FALSE(TreePath("/a").contains(TreePath("/ab")));
  EXPECT_FALSE(TreePath("/a/b").contains(TreePath("/a")));
  EXPECT_TRUE(TreePath("/").contains(TreePath("/a")));
  EXPECT_FALSE(TreePath("/").contains(TreePath("/")));
}

TEST(TreePathTest, WhatIsNoPathIsWrongUsage) {
  const std::string long_name(256, 'n');
  std::string long_path;
  while (long_path.size() <= kMaxTreePathBytes) long_path += "/" + std::string(99, 'd');
  for (const std::string& text :
       {std::string(), std::string("a/b"), std::string("//a"), std::string("/a//b"), std::string("/a/./b"),
        std::string("/a/.."), std::string("/a\nb"), std::string("/\xff"), "/" + long_name, long_path}) {
    EXPECT_THROW(TreePath{text}, UsageError) << text;
  }
  EXPECT_NO_THROW(TreePath("/" + std::string(255, 'n')));
  EXPECT_NO_THROW(TreePath("/..."));
}

}  // namespace
}  // namespace lockstep
