#include "replicator/draft/select_statement.h"

#include <gmock/gmock.h>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

SelectStatement read(const std::string& sql) {
  return read_select(sql, "sql_last_value");
}

TEST(SelectStatementTest, TakesOutWhatAsksForTheLastTime) {
  const SelectStatement statement = read(
      "SELECT p.id, p.name AS title FROM shop.products p\n"
      "WHERE p.updated_at > :sql_last_value AND p.updated_at < NOW() and p.price between 1 and 2\n"
      "ORDER BY p.updated_at ASC;");
  EXPECT_EQ(statement.before, "SELECT");
  EXPECT_THAT(statement.items, ElementsAre("p.id", "p.name AS title"));
  EXPECT_EQ(statement.after, "FROM shop.products p\nwhere p.price between 1 and 2");
  EXPECT_THAT(statement.taken_out, ElementsAre("p.updated_at > :sql_last_value", "p.updated_at < NOW()"));
}

TEST(SelectStatementTest, LooksIntoParenthesesAroundConditions) {
  const SelectStatement statement =
      read("select id from t where (updated > :sql_last_value and (a or b)) and updated <= now()");
  EXPECT_EQ(statement.after, "from t\nwhere (a or b)");
  EXPECT_EQ(read("select id from t where (id > :sql_last_value)").after, "from t");
  EXPECT_EQ(read("select id from t where a = ':sql_last_value' -- :x\n").after,
            "from t\nwhere a = ':sql_last_value'");
}

TEST(SelectStatementTest, KeepsWhatIsNotAboutTheLastTime) {
  EXPECT_EQ(read("select id from t where published < now() group by id order by id limit 5").after,
            "from t\nwhere published < now()\ngroup by id order by id limit 5");
  EXPECT_THAT(read("select id from t where published < now()").taken_out, IsEmpty());
  EXPECT_EQ(read("with a as (select 1 as b) select distinct b from a").before,
            "with a as (select 1 as b) select distinct");
  EXPECT_EQ(read("select a is distinct from b as c from t").items.front(), "a is distinct from b as c");
}

TEST(SelectStatementTest, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT([] { read("select id from t where a = 1 or updated > :sql_last_value"); },
              ThrowsMessage<UsageError>(HasSubstr(":sql_last_value elsewhere")));
  EXPECT_THAT([] { read("select (select max(x) from u where y > :sql_last_value) from t"); },
              ThrowsMessage<UsageError>(HasSubstr(":sql_last_value elsewhere")));
  EXPECT_THAT([] { read("select id from t where kind = :kind"); },
              ThrowsMessage<UsageError>(HasSubstr("the parameter :kind")));
  EXPECT_THAT([] { read("select id from t union select id from u"); },
              ThrowsMessage<UsageError>(HasSubstr("union")));
  EXPECT_THAT([] { read("update t set a = 1"); }, ThrowsMessage<UsageError>(HasSubstr("not a select")));
  EXPECT_THAT([] { read("select (1 from t"); }, ThrowsMessage<UsageError>(HasSubstr("parenthesis")));
  EXPECT_THAT([] { read("select 'a from t"); }, ThrowsMessage<UsageError>(HasSubstr("has no '")));
}

TEST(SelectStatementTest, FindsTheExpressionOfAColumn) {
  const SelectStatement statement =
      read("select p.id, p.\"Key\" as \"Isbn\", count(*) n, a + b, x::text as kind from p");
  EXPECT_EQ(statement.expression_of("id"), "p.id");
  EXPECT_EQ(statement.expression_of("isbn"), "p.\"Key\"");
  EXPECT_EQ(statement.expression_of("n"), "count(*)");
  EXPECT_EQ(statement.expression_of("kind"), "x::text");
  EXPECT_EQ(statement.expression_of("b"), std::nullopt) << "a + b has no name";
  EXPECT_EQ(read("select * from p").expression_of("id"), "id");
}

}  // namespace
}  // namespace lockstep
