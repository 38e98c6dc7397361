#include "replicator/tree/tree_intent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = TreeIntent::Kind;

Operation operation_with(const OperationIntent& intent) {
  Operation operation;
  operation.id = "web1-7-ab";
  operation.intent = intent;
  return operation;
}

const TreeIntent kMove{.kind = Kind::kMove, .path = TreePath("/a"), .to = TreePath("/b/c")};
const TreeIntent kRemoval{.kind = Kind::kRemove, .path = TreePath("/a")};
const TreeIntent kPut{.kind = Kind::kPut, .path = TreePath("/a/f")};
const TreeIntent kDirectory{.kind = Kind::kMakeDirectory, .path = TreePath("/a/d")};
const TreeIntent kCopy{.kind = Kind::kCopy, .path = TreePath("/a/f"), .to = TreePath("/a/g")};

TEST(TreeIntentTest, TheJournalKeepsIt) {
  EXPECT_EQ(journal_intent(kMove, "fs"),
            (OperationIntent{.kind = "mv", .from = "/a", .to = "/b/c", .target = "fs"}));
  EXPECT_EQ(journal_intent(kRemoval, "fs"), (OperationIntent{.kind = "rm", .from = "/a", .target = "fs"}));
  for (const TreeIntent& intent : {kMove, kRemoval, kPut, kDirectory, kCopy})
    EXPECT_EQ(tree_intent(operation_with(journal_intent(intent, "fs"))), intent);
}

TEST(TreeIntentTest, MessagesSayWhatIsBeingDone) {
  EXPECT_EQ(doing_of(kMove), "moving /a to /b/c");
  EXPECT_EQ(doing_of(kRemoval), "removing /a");
  EXPECT_EQ(doing_of(kPut), "writing /a/f");
  EXPECT_EQ(doing_of(kDirectory), "making the directory /a/d");
  EXPECT_EQ(doing_of(kCopy), "copying /a/f to /a/g");
}

TEST(TreeIntentTest, AnUnknownKindIsAnErrorThatNamesItAndTheOperation) {
  try {
    (void)tree_intent(operation_with({.kind = "ln", .from = "/a", .to = "/b"}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("web1-7-ab"), HasSubstr("\"ln\""), HasSubstr("newer lockstep")));
    EXPECT_FALSE(error.retryable());
  }
}

TEST(TreeIntentTest, AStoredPathThatIsNoneIsAnErrorAndNotWrongUsage) {
  for (const OperationIntent& wrong :
       {OperationIntent{.kind = "mv", .from = "/a", .to = "b"}, OperationIntent{.kind = "mv", .from = "/a"},
        OperationIntent{.kind = "rm", .from = ""}}) {
    try {
      (void)tree_intent(operation_with(wrong));
      ADD_FAILURE() << wrong.from << " " << wrong.to;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("web1-7-ab"));
    }
  }
}

}  // namespace
}  // namespace lockstep
