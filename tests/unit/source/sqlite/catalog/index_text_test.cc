#include "replicator/source/sqlite/catalog/index_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;

TEST(SqliteIndexTextTest, ColumnsComeWithoutTheirOrderAndCollation) {
  const SqliteIndexText index = read_index_text(
      "CREATE UNIQUE INDEX \"on (\" on t (lower(a) collate nocase desc, b, coalesce(c, ',)') ASC, "
      "a collate \"my one\")");
  EXPECT_THAT(index.columns, ElementsAre("lower(a)", "b", "coalesce(c, ',)')", "a"));
  EXPECT_EQ(index.condition, "");
}

TEST(SqliteIndexTextTest, AConditionIsEverythingBehindTheColumns) {
  const SqliteIndexText index =
      read_index_text("create unique index i on t /* (no */ (a -- no)\n, [b)]) where a > 0 and b in (1, 2)");
  EXPECT_THAT(index.columns, ElementsAre("a", "[b)]"));
  EXPECT_EQ(index.condition, " a > 0 and b in (1, 2)");
}

}  // namespace
}  // namespace lockstep
