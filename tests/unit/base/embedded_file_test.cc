#include "replicator/embedded_file.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace lockstep {
namespace {

TEST(StatementsTest, EachHasItsOwnLines) {
  constexpr std::array files = {
      EmbeddedFile{"a.sql", "-- name: one\n-- What it is.\nselect 1\n\n-- name: two\nselect\n\n2\n"},
      EmbeddedFile{"b.sql", "-- name: three\nselect 3\n"}};
  const Statements statements = statements_of(files);
  EXPECT_EQ(statements.size(), 3U);
  EXPECT_EQ(statement_named(statements, "one"), "-- What it is.\nselect 1\n");
  EXPECT_EQ(statement_named(statements, "two"), "select\n\n2\n");
  EXPECT_EQ(statement_named(statements, "three"), "select 3\n");
  EXPECT_THROW(statement_named(statements, "four"), std::logic_error);
}

TEST(StatementsTest, TwoOfOneNameAreAMistake) {
  constexpr std::array files = {EmbeddedFile{"a.sql", "-- name: one\nselect 1\n"},
                                EmbeddedFile{"b.sql", "-- name: one\nselect 2\n"}};
  EXPECT_THROW(statements_of(files), std::logic_error);
}

TEST(StatementsTest, AFileThatBeginsWithoutANameIsAMistake) {
  constexpr std::array files = {EmbeddedFile{"a.sql", "select 1\n"}};
  EXPECT_THROW(statements_of(files), std::logic_error);
}

}  // namespace
}  // namespace lockstep
