#include "replicator/locks/lock_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"
#include "tests/unit/locks/lock_set_text.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LockNameTest, AncestorsOfAPathAreAllAboveIt) {
  EXPECT_THAT(ancestors("/"), IsEmpty());
  EXPECT_THAT(ancestors("/a"), ElementsAre("/"));
  EXPECT_THAT(ancestors("/clinton/projects/elasticsearch"),
              ElementsAre("/", "/clinton", "/clinton/projects"));
}

TEST(LockNameTest, ARenameLocksSourceAndTargetAndSharesWhatIsAbove) {
  EXPECT_EQ(text_of(tree_locks({"/a/f", "/b/c/g"})), "S/ S/a X/a/f S/b S/b/c X/b/c/g");
  EXPECT_EQ(text_of(tree_locks({"/a/f", "/a/g"})), "S/ S/a X/a/f X/a/g");
  EXPECT_EQ(text_of(tree_locks({"/"})), "X/");
}

TEST(LockNameTest, TheExclusiveLockOfANameIsTheOneThatStays) {
  EXPECT_EQ(text_of(tree_locks({"/a", "/a/b"})), "S/ X/a X/a/b");
  EXPECT_EQ(text_of(tree_locks({"/a/b", "/a"})), "S/ X/a X/a/b");
  EXPECT_EQ(text_of(document_locks({"2", "1", "2"})), "X1 X2");
}

TEST(LockNameTest, AncestorsComeBeforeWhatIsBelowThem) {
  // "-" and "." sort before "/", and neither is an ancestor.
  EXPECT_EQ(text_of(tree_locks({"/a/x", "/a-b/x", "/a.b"})), "S/ S/a S/a-b X/a-b/x X/a.b X/a/x");
}

TEST(LockNameTest, APathIsWrittenInFull) {
  EXPECT_EQ(canonical_path("/a/b//"), "/a/b");
  EXPECT_EQ(canonical_path("/"), "/");
  EXPECT_EQ(canonical_path("//"), "/");
  EXPECT_EQ(canonical_path("/..a/b..c/..."), "/..a/b..c/...");
  for (const char* wrong : {"", "a", "a/b", "/a//b", "/a/./b", "/a/..", "/.", "./a"}) {
    EXPECT_THROW(canonical_path(wrong), UsageError) << wrong;
  }
}

TEST(LockNameTest, ModesAreReadAsTheyAreWritten) {
  for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive})
    EXPECT_EQ(lock_mode(text_of(mode)), mode);
  EXPECT_EQ(lock_mode("upgradable"), std::nullopt);
  EXPECT_EQ(lock_mode(""), std::nullopt);
}

TEST(LockNameTest, ANameIsATextOfOneLine) {
  EXPECT_EQ(LockName("Ärger 🙂").text(), "Ärger 🙂");
  for (const std::string& wrong : {std::string(), std::string("a\nb"), std::string(1, '\0'),
                                   std::string("\xff\xfe"), std::string("a\x7f")}) {
    EXPECT_THROW((void)LockName(wrong), UsageError) << wrong;
  }
}

}  // namespace
}  // namespace lockstep
