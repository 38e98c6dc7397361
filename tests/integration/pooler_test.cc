// lockstep behind PgBouncer: refused where the pool gives each transaction another backend, at work where a
// session keeps its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

class Pooler : public testing::Test {
 protected:
  Pooler() : pipeline_(database_) {
    database_.execute(
        "create table items (id integer primary key, name text); insert into items values (1, 'one'); "
        "create view items_view as select id as _id, name from items");
    pipeline_.add_index("items", "public.items_view", track("public.items"));
    pipeline_.apply();
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
};

TEST_F(Pooler, InTransactionModeIsRefusedWithTheRemedyAndLeavesNoSettingBehind) {
  for (const char* pool_mode : {"transaction", "statement"}) {
    const PgBouncer pooler(database_, pool_mode);
    pipeline_.set_source(pooler.url());
    for (const char* verb : {"check", "run", "apply", "verify"}) {
      const Completed completed = pipeline_.lockstep(verb);
      EXPECT_EQ(completed.exit_code, 2) << verb << completed.err;
      EXPECT_THAT(completed.err, HasSubstr("pool_mode = session")) << verb;
    }
    pqxx::connection neighbour(pooler.url());
    EXPECT_NE(support::execute(neighbour, "show search_path")[0][0].as<std::string>(), "\"\"") << pool_mode;
  }
}

TEST_F(Pooler, InSessionModeServes) {
  const PgBouncer pooler(database_, "session");
  pipeline_.set_source(pooler.url());
  pipeline_.must("check");
  const auto program = pipeline_.start();
  database_.execute("update items set name = 'changed'");
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
}

}  // namespace
}  // namespace lockstep::support
