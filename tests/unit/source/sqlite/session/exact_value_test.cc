#include "replicator/source/sqlite/session/exact_value.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/sqlite/session/statement.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using namespace std::string_literals;

const std::vector<std::string> kTexts = {"",
                                         "a",
                                         "a\0b"s,
                                         "\0"s,
                                         "\xed\xa0\x80",
                                         "\xfe"
                                         "A",
                                         "\x01",
                                         "\x01t61",
                                         "\"\x01t61\"",
                                         "\\\"",
                                         ",\"\x01",
                                         "日\n"};

class SqliteExactValueTest : public testing::Test {
 protected:
  SqliteExactValueTest() : application_(folder_.file("app.db")), connection_(config_.source) {}

  /// What a query of the configuration sees, as SQL writes it.
  std::vector<std::string> seen(const std::string& json, const std::string& query) {
    std::vector<std::string> values;
    SqliteStatement rows(connection_, "testing", SqliteText{query}, json);
    while (rows.step()) values.emplace_back(rows[0].text());
    return values;
  }

  const ApplicationFolder folder_;
  Application application_;
  const Config config_ = sqlite_config(folder_.file("app.db"), {});
  SqliteConnection connection_;
};

TEST_F(SqliteExactValueTest, EveryTextComesOutOfAParameterAsItWent) {
  std::string json = "[";
  for (const std::string& text : kTexts) {
    if (json.size() > 1) json += ',';
    append_exact_text(json, text);
  }
  json += ']';
  EXPECT_EQ(seen(json, std::string(kExactValues)), kTexts);
  std::vector<std::string> read;
  for (const nlohmann::json& each : nlohmann::json::parse(json))
    read.push_back(exact_text(each.get<std::string>()));
  EXPECT_EQ(read, kTexts);
}

TEST_F(SqliteExactValueTest, BlobsAndInfiniteNumbersDoSoToo) {
  std::string json = "[";
  append_exact_blob(json, "\x00\xff"s);
  json += ',';
  append_exact_infinity(json, std::numeric_limits<double>::infinity());
  json += ',';
  append_exact_infinity(json, -std::numeric_limits<double>::infinity());
  json += ",1,1.5,\"a\"]";
  const std::string typed =
      "select typeof(v) || case when typeof(v) = 'blob' then hex(v) else '' end || "
      "case v when 9e999 then '+' when -9e999 then '-' else '' end "
      "from (select lockstep_value(value) as v from json_each(?1))";
  EXPECT_EQ(seen(json, typed),
            (std::vector<std::string>{"blob00FF", "real+", "real-", "integer", "real", "text"}));
}

TEST_F(SqliteExactValueTest, AQueryOfTheConfigurationGetsPlainJsonUnlessATextHasNul) {
  for (const std::string& text : kTexts) {
    std::string json = "[1,";
    append_exact_text(json, text);
    json += ",[";
    append_exact_text(json, text);
    json += "]]";
    const std::optional<std::string> plain = as_plain_json(json);
    EXPECT_EQ(plain.has_value(), text.find('\0') == std::string::npos) << json;
    if (plain) EXPECT_EQ(seen(*plain, "select value from json_each(?1)").at(1), text) << *plain;
  }
  std::string infinite = "[";
  append_exact_infinity(infinite, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(as_plain_json(infinite + "]"), "[-9e999]");
}

TEST_F(SqliteExactValueTest, AMarkThatNobodyKnowsIsAnError) {
  EXPECT_THROW(exact_text("\x01zz"), Error);
  EXPECT_THROW(exact_text("\x01t6"), Error);
  EXPECT_THROW(seen("[\"\\u0001zz\"]", std::string(kExactValues)), SqliteError);
}

}  // namespace
}  // namespace lockstep
