#include "replicator/source/sqlite/catalog/join_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SqliteJoinColumnsTest, EveryUsingIsFoundWhateverTheDepthAndTheQuotes) {
  const SqliteJoinColumns joins = read_join_columns(
      "CREATE VIEW v AS SELECT (SELECT max(x) FROM a JOIN b USING(\"the \"\"key\", k)) FROM a LEFT JOIN b "
      "using /* (no) */ ([a b], `c`, 'd')");
  EXPECT_THAT(joins.columns, ElementsAre("the \"key", "k", "a b", "c", "d"));
  EXPECT_FALSE(joins.is_natural);
}

TEST(SqliteJoinColumnsTest, ANaturalJoinIsToldFromTextsNamesAndComments) {
  EXPECT_TRUE(read_join_columns("create view v as select * from a Natural Left Join b").is_natural);
  const SqliteJoinColumns joins = read_join_columns(
      "create view v as select 'natural using (k)' as \"natural\" -- natural join b using (k)\nfrom a");
  EXPECT_FALSE(joins.is_natural);
  EXPECT_THAT(joins.columns, IsEmpty());
}

}  // namespace
}  // namespace lockstep
