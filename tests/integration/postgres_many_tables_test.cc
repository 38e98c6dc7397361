// What `check` and `apply` cost with many tables, in statements: their number says the same on a busy
// machine.
#include <gtest/gtest.h>

#include <string>

#include "replicator/config/config.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/define/preflight.h"
#include "replicator/source/postgres/session/session.h"
#include "tests/integration/defined_database.h"
#include "tests/support/postgres_database.h"
#include "tests/support/private_postgres.h"

namespace lockstep {
namespace {

using support::PostgresDatabase;
using support::PrivatePostgres;

struct Statements {
  std::int64_t apply = 0;
  std::int64_t check = 0;
};

// An index of a view over `tables` tables.
Config pipeline_of(PostgresDatabase& database, int tables) {
  Config config;
  config.source.url = database.url();
  config.source.password = Secret(database.password());
  IndexConfig index;
  index.alias = "documents";
  index.view = "s.documents";
  index.tracks.push_back(track("s.parent"));
  std::string columns;
  std::string sql = "create schema s; create table s.parent (id bigint primary key, name text);";
  for (int i = 1; i < tables; ++i) {
    const std::string child = "s.child_" + std::to_string(i);
    sql += "create table " + child + " (id bigint primary key, parent_id bigint, name text);";
    columns += ", (select json_agg(c.name order by c.id) from " + child +
               " as c where c.parent_id = p.id) as child_" + std::to_string(i);
    index.tracks.push_back(track_by_row(child, "parent_id"));
  }
  config.indices.push_back(index);
  database.execute(sql + "create view s.documents as select p.id as _id, p.name" + columns +
                   " from s.parent as p;" + "create extension pg_stat_statements");
  return config;
}

Statements statements_for(PrivatePostgres& server, int tables) {
  PostgresDatabase database(server.url());
  const Config config = pipeline_of(database, tables);
  const auto counted = [&](const auto& work) {
    database.execute("select pg_stat_statements_reset()");
    PostgresSession session(config.source, "counted");
    work(session);
    return database.number(
        "select sum(calls) from pg_stat_statements where dbid = (select oid from pg_database where datname = "
        "current_database())");
  };
  Statements statements;
  statements.apply =
      counted([&](PostgresSession& session) { PostgresDefinition(session, config).apply({}); });
  statements.check =
      counted([&](PostgresSession& session) { EXPECT_TRUE(check_postgres(session, config).empty()); });
  return statements;
}

TEST(ManyTables, EachMoreCostsApplyAndCheckTheSameFewStatements) {
  PrivatePostgres server({"shared_preload_libraries=pg_stat_statements"});
  const Statements of_ten = statements_for(server, 10);
  const Statements of_twenty = statements_for(server, 20);
  const Statements of_forty = statements_for(server, 40);
  EXPECT_EQ(of_forty.apply - of_twenty.apply, 2 * (of_twenty.apply - of_ten.apply));
  EXPECT_LE(of_forty.apply - of_twenty.apply, 20 * 72);
  // A hundred questions about rights are one statement.
  EXPECT_NEAR(of_forty.check - of_twenty.check, 2 * (of_twenty.check - of_ten.check), 2);
  EXPECT_LE(of_forty.check - of_twenty.check, 20 * 42);
}

}  // namespace
}  // namespace lockstep
