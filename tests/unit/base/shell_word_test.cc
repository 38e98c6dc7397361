#include "replicator/shell_word.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(ShellWord, IsQuotedUnlessAllItsCharactersArePlain) {
  EXPECT_EQ(shell_word("postgresql://app@db:5432/shop"), "postgresql://app@db:5432/shop");
  EXPECT_EQ(shell_word("my dir/orders.sql"), "'my dir/orders.sql'");
  EXPECT_EQ(shell_word("postgresql:///shop?a=1&b=$(id)"), "'postgresql:///shop?a=1&b=$(id)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace lockstep
