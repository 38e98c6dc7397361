// Servers that do not tell of their WAL, as some managed ones do not: emulated by revoking the functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;
using testing::Not;

class ManagedDatabase : public testing::Test {
 protected:
  ManagedDatabase() : pipeline_(database_), role_(database_.create_role("managed")) {
    for (const char* function : kAboutTheWal)
      database_.execute(std::string("revoke execute on function ") + function + " from public");
    database_.execute("grant create on database " + database_.name() + " to " + role_ +
                      "; grant create on schema public to " + role_);
    support::execute(*database_.connect_as(role_),
                     "create table items (id integer primary key, name text); "
                     "insert into items select i, 'item ' || i from generate_series(1, 50) i; "
                     "create view items_view as select id as _id, name from items");
    pipeline_.add_index("items", "public.items_view", track("public.items"));
    pipeline_.set_role(role_);
  }

  void tell(const std::string& verb, const std::string& preposition) {
    for (const char* function : kAboutTheWal)
      database_.execute(verb + " execute on function " + function + preposition + role_);
  }

  static constexpr const char* kAboutTheWal[] = {"pg_control_system()", "pg_current_wal_insert_lsn()",
                                                 "pg_current_wal_flush_lsn()", "pg_current_wal_lsn()",
                                                 "pg_walfile_name(pg_lsn)"};

  PostgresDatabase database_;
  PipelineUnderTest pipeline_;
  std::string role_;
};

TEST_F(ManagedDatabase, ThatHidesItsWalIsFollowed) {
  EXPECT_THAT(pipeline_.must("check"), HasSubstr("WAL"));
  pipeline_.apply();
  {
    const auto program = pipeline_.start();
    database_.execute("update items set name = 'changed' where id = 1");
    EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
    EXPECT_EQ(pipeline_.lockstep("wait").exit_code, 0);
  }
  database_.execute("update items set name = 'changed again' where id = 2");
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

TEST_F(ManagedDatabase, ThatHidesItsWalAndIsPutBackIsComparedAgain) {
  pipeline_.apply();
  pipeline_.catch_up();
  database_.dump();
  database_.execute("update items set name = 'lost' where id = 1");
  pipeline_.catch_up();
  database_.restore_dump();
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

TEST_F(ManagedDatabase, IsTheSameToWhoeverWaitsWithOtherRights) {
  pipeline_.apply();
  const auto program = pipeline_.start();
  database_.execute("update items set name = 'changed' where id = 1");
  EXPECT_EQ(pipeline_.lockstep("wait").exit_code, 0);
  tell("grant", " to ");
  EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "10s"}).exit_code, 0) << "the leader knows less";
}

TEST_F(ManagedDatabase, ThatTellsLessThanBeforeIsComparedAndIsTheSame) {
  tell("grant", " to ");
  pipeline_.apply();
  const auto program = pipeline_.start();
  EXPECT_EQ(pipeline_.lockstep("wait").exit_code, 0);
  tell("revoke", " from ");
  database_.execute("update items set name = 'changed' where id = 1");
  EXPECT_EQ(pipeline_.difference_within(kPatience), "") << program->err();
  EXPECT_THAT(program->err(), HasSubstr("nothing shows whether it went back"));
  EXPECT_THAT(program->err(), Not(HasSubstr("different database")));
  for (const char* verb : {"revoke", "grant"}) {
    tell(verb, verb == std::string("grant") ? " to " : " from ");
    // Until writes of the leader that gave up cannot land any more a sweep waits, and this with it.
    EXPECT_THAT(pipeline_.lockstep("wait", {"--timeout", "1s"}).err,
                Not(HasSubstr("no leader has compared")));
  }
}

TEST_F(ManagedDatabase, ThatTellsMoreThanBeforeGetsItsFullName) {
  const auto place = [&] {
    return database_.value("select partners ->> 'place' from lockstep.checkpoint").value_or("");
  };
  pipeline_.apply();
  pipeline_.catch_up();
  EXPECT_TRUE(place().starts_with("unnamed/")) << place();
  tell("grant", " to ");
  pipeline_.catch_up();
  EXPECT_FALSE(place().starts_with("unnamed/")) << place();
  tell("revoke", " from ");
  pipeline_.catch_up();
  EXPECT_FALSE(place().starts_with("unnamed/")) << "it is known to be the same: " << place();
  EXPECT_EQ(pipeline_.difference(), "");
}

}  // namespace
}  // namespace lockstep::support
