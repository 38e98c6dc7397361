// The code that `apply` puts beside the tables of a typical pipeline, whole: golden/blog.sql. A change of
// this text makes every `apply` after an upgrade replace the functions of every tracked table.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "replicator/source/postgres/define/function_code.h"

namespace lockstep {
namespace {

const char* const kGolden = LOCKSTEP_SOURCE_DIR "/tests/unit/source/postgres/define/golden/blog.sql";

// Without the comment at the top.
std::string golden() {
  std::ifstream file(kGolden);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.substr(text.find("\ncreate ") + 1);
}

struct Table {
  std::string relation;
  TriggerCode code;
};

// What config/blog.toml tracks: each post by its key, when a column of the view changes, and so for users.
const Table kPosts = {"blog.blogposts",
                      {"lockstep",
                       "blogposts",
                       {{"id", "=", true}},
                       {{1, true, "id", std::vector<std::string>{"user_id", "title", "body"}}}}};
const Table kUsers = {
    "blog.users",
    {"lockstep", "users", {{"id", "=", true}}, {{2, true, "id", std::vector<std::string>{"name"}}}}};

FunctionCode function_of(const Table& table, TriggerEvent event) {
  return trigger_function(1, table.relation, table.code, {}, event);
}

TEST(GoldenTest, BlogsFunctionsAndTriggersAreThoseInTheRepository) {
  const FunctionCode resolver =
      resolver_function("resolve_c0fc51bdc3f3f43d", "bigint",
                        "select (d.id)::text from blog.blogposts as d where d.user_id = "
                        "any($1) and (d.id)::text is not null");
  std::vector<std::string> statements = {create_function_sql("lockstep", resolver)};
  for (const Table& table : {kPosts, kUsers}) {
    for (const TriggerEvent event : kTriggerEvents) {
      statements.push_back(create_function_sql("lockstep", function_of(table, event)));
    }
    statements.push_back(create_function_sql("lockstep", check_function(1, table.relation, table.code)));
    statements.push_back(create_function_sql(
        "lockstep", parts_function(1, "lockstep", table.relation, table.code, {kSearchPath})));
  }
  for (const Table& table : {kPosts, kUsers}) {
    for (const TriggerEvent event : kTriggerEvents) {
      statements.push_back(create_always_trigger_sql(trigger_name("lockstep", 1, event), table.relation,
                                                     "lockstep." + function_of(table, event).name, event));
    }
  }
  std::string text;
  for (const std::string& statement : statements) text += (text.empty() ? "" : "\n") + statement + ";\n";
  EXPECT_EQ(text, golden());
}

}  // namespace
}  // namespace lockstep
