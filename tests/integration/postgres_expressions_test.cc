// What `row` and `keys` may depend on besides rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/postgres/define/preflight.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

// `check` was silent about it, and so is everything else: no later change of a row leads to the old document.
TEST(ExpressionsTest, AnExpressionThatIsNotImmutableIsNamed) {
  DefinedDatabase defined(
      "create schema s; create table s.users (id integer primary key); create table s.posts (id integer "
      "primary "
      "key, user_id integer); create view s.v as select id as _id, user_id from s.posts; "
      "create table s.names (id integer primary key, n integer); "
      "create function s.lookup(i integer) returns integer language sql stable as $$ select n from s.names "
      "where id = i $$; create function s.plus(i integer) returns integer language sql immutable as $$ "
      "select "
      "i + 1 $$; create function s.later() returns date language plpgsql as $$ begin return now(); end $$");
  defined.add_index("s.v", {track("s.posts"), track_by_row("s.posts", "s.lookup(user_id)"),
                            track_by_row("s.posts", "s.plus(user_id)"),
                            track_by_row("s.posts", "user_id + extract(year from now())::integer")});
  TrackConfig by_keys = track("s.users");
  by_keys.keys = "select id from s.posts where user_id = any($1) and s.later() > '2024-01-01'";
  defined.config().indices.back().tracks.push_back(by_keys);
  std::vector<std::string> named;
  PostgresSession session(defined.config().source, "test");
  for (const Finding& finding : check_postgres(session, defined.config())) {
    if (finding.message.find("depends on more") != std::string::npos) named.push_back(finding.message);
  }
  EXPECT_THAT(named, ::testing::ElementsAre(HasSubstr("row: s.lookup(user_id)"), HasSubstr("now()"),
                                            HasSubstr("more than rows: s.later()")));
  EXPECT_EQ(defined.database().number("select count(*) from pg_class where relname ~ 'probe'"), 0);
}

}  // namespace
}  // namespace lockstep
