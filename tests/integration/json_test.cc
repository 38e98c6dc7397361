// What the database says is what Elasticsearch stores, to the last digit: nothing in between reads and
// rewrites the values.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/blog_pipeline.h"
#include "tests/support/canonical_json.h"

namespace lockstep::support {
namespace {

struct Value {
  const char* sql;
  const char* json;  // of the field `value`
};

const std::vector<Value>& values() {
  static const std::vector<Value> all{
      {"'{\"a\":\n1,\r\n\"b\": \"x\\ny\"}'::json", R"({"a":1,"b":"x\ny"})"},
      {"E'[1,\\n\\n2]'::json", "[1,2]"},
      {"'{\"deep\": [[{\"x\": [null, true, {}]}]]}'::jsonb", R"({"deep":[[{"x":[null,true,{}]}]]})"},
      {"'1.10'::json", "1.10"},
      {"'1.50e+05'::json", "1.50e+05"},
      {"'\"\\u00e9\\ud83d\\ude00\"'::json", "\"é😀\""},
      {"123456789012345678901234567890.123456789", "123456789012345678901234567890.123456789"},
      {"1.5000::numeric(20,10)", "1.5000000000"},
      {"9223372036854775807", "9223372036854775807"},
      {"0.1::float8", "0.1"},
      {"1e-300::float8", "1e-300"},
      {"'NaN'::float8", "\"NaN\""},
      {"'NaN'::numeric", "\"NaN\""},
      {"'-Infinity'::float8", "\"-Infinity\""},
      {"timestamp '2024-02-29 12:34:56.789012'", "\"2024-02-29T12:34:56.789012\""},
      {"timestamp 'infinity'", "\"infinity\""},
      {"date '0044-03-15 BC'", "\"0044-03-15 BC\""},
      {"interval '1 month 2 days 03:04:05'", "\"1 mon 2 days 03:04:05\""},
      {"array[1, null, 3]", "[1,null,3]"},
      {"array[array['a', 'b'], array['c', 'd']]", R"([["a","b"],["c","d"]])"},
      {"array[]::text[]", "[]"},
      {"array['{\"a\": 1.0}'::json]", R"([{"a":1.0}])"},
      {"E'a\\nb\\tc\\\\d\"e/f\\u0001'", R"("a\nb\tc\\d\"e/f\u0001")"},
      {"''", "\"\""},
      {"E'\\\\x00ff'::bytea", R"("\\x00ff")"},
      {"true", "true"},
      {"null::text", "null"},
      {"U&'\\2028\\2029\\FEFF'", "\"\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\""},
      {"'😀 ключ 鍵'", "\"😀 ключ 鍵\""},
      {"'10.0.0.0/8'::cidr", "\"10.0.0.0/8\""},
      {"int4range(1, 5)", "\"[1,5)\""},
  };
  return all;
}

class Json : public BlogTest {
 protected:
  Json() {
    // A view for each value would be slow, so each value is a column.
    std::string columns;
    for (std::size_t i = 0; i < values().size(); ++i) {
      columns += ", " + std::string(values()[i].sql) + " as v" + std::to_string(i);
    }
    execute(
        "create table blog.kinds (id integer primary key, n integer not null default 0); insert into "
        "blog.kinds values (1), (2); "
        "create view search.kinds as select id as _id, n" +
        columns + " from blog.kinds");
    kinds_ = &pipeline_.add_index("kinds", "search.kinds", track("blog.kinds"));
  }

  static std::string expected(int n) {
    std::string json = "{\"n\":" + std::to_string(n);
    for (std::size_t i = 0; i < values().size(); ++i)
      json += ",\"v" + std::to_string(i) + "\":" + values()[i].json;
    return canonical_json(json + "}");
  }

  ElasticsearchIndex* kinds_ = nullptr;
};

TEST_F(Json, EveryKindOfValueArrivesAsTheDatabaseWritesIt) {
  bring_up();
  EXPECT_EQ(kinds_->documents().at({"1"}).json, expected(0));
  execute("update blog.kinds set n = 7 where id = 2");
  pipeline_.catch_up();
  EXPECT_EQ(kinds_->documents().at({"2"}).json, expected(7));
  EXPECT_TRUE(is_equal());
}

// Raw newlines in a json value would end the line of a bulk request in its middle.
TEST_F(Json, RawNewlinesInAJsonColumnBreakNoBulkRequest) {
  execute(
      "create table blog.raw (id integer primary key, payload json); "
      "insert into blog.raw select i, (E'{\\n\"n\":\\r\\n' || i || E'\\n,\\n\"t\":\"a\\\\nb\"}')::json from "
      "generate_series(1, 500) i; "
      "create view search.raw as select id as _id, payload from blog.raw");
  pipeline_.add_index("raw", "search.raw", track("blog.raw"));
  bring_up();
  execute("update blog.raw set payload = (E'[\\n' || id || E'\\n]')::json where id % 2 = 0");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_EQ(pipeline_.index("raw").documents().at({"1"}).json, R"({"payload":{"n":1,"t":"a\nb"}})");
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(Json, FieldNamesWithQuotesAndCapitalsAndManyFieldsArrive) {
  execute(
      "create table blog.odd (id integer primary key); insert into blog.odd values (1); "
      "create view search.odd as select id as _id, 1 as \"A B\", 2 as \"quo\"\"te\", 3 as \"select\", 4 as "
      "\"ключ\", "
      "5 as \"_hidden\", 6 as z, 7 as a from blog.odd");
  pipeline_.add_index("odd", "search.odd", track("blog.odd"));
  bring_up();
  EXPECT_EQ(pipeline_.index("odd").documents().at({"1"}).json,
            R"({"A B":1,"quo\"te":2,"select":3,"ключ":4,"z":6,"a":7})");
}

TEST_F(Json, ADocumentOfMegabytesArrives) {
  bring_up();
  execute("update blog.posts set body = repeat('long ', 1000000) where id in (1, 2, 3)");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

}  // namespace
}  // namespace lockstep::support
