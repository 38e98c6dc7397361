// Anybody who may connect can take an advisory lock: nobody but lockstep leads by it, or keeps it from
// leading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/open_source.h"
#include "replicator/source/source.h"
#include "tests/integration/defined_database.h"
#include "tests/support/eventually.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LeadTest : public ::testing::Test {
 protected:
  LeadTest()
      : defined_(
            "create schema s; create table s.t (id integer primary key); create view s.v as select id as _id "
            "from s.t") {
    defined_.add_index("s.v", {track("s.t")});
    defined_.apply();
  }

  support::PostgresDatabase& database() { return defined_.database(); }
  std::unique_ptr<Source> source() { return open_source(defined_.config(), "test"); }
  PipelineStatus status() { return open_status_reader(defined_.config())->read().value(); }

  std::string number_of_the_lead() {
    return database()
        .value(
            "select coalesce(c.lead_key, hashtextextended(p.identity::text, 0)) from lockstep.checkpoint as "
            "c join "
            "lockstep.pipeline as p on p.id = c.pipeline")
        .value();
  }
  std::string first_number() {
    return database().value("select hashtextextended(identity::text, 0) from lockstep.pipeline").value();
  }
  static bool take(pqxx::connection& connection, const std::string& number) {
    return support::execute(connection, "select pg_try_advisory_lock(" + number + ")")[0][0].as<bool>();
  }

  DefinedDatabase defined_;
};

TEST_F(LeadTest, AStrangerWhoHoldsTheLockKeepsNobodyFromLeading) {
  const auto stranger = database().connect_as(database().create_role("stranger"));
  ASSERT_TRUE(take(*stranger, first_number()));
  const std::unique_ptr<Source> one = source();
  EXPECT_FALSE(one->lead().is_led()) << "the stranger does not lead";
  EXPECT_TRUE(one->lead().try_lead());
  EXPECT_TRUE(one->lead().is_led());
  EXPECT_FALSE(source()->lead().try_lead()) << "one leads";
  EXPECT_NE(number_of_the_lead(), first_number());
}

TEST_F(LeadTest, AStrangerWhoWaitsForEveryNewNumberKeepsNobodyFromLeading) {
  const std::string role = database().create_role("stranger");
  std::vector<std::unique_ptr<pqxx::connection>> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(database().connect_as(role));
    // Whoever led before is about to end, and has the lock until then.
    ASSERT_TRUE(support::wait_until([&] { return take(*strangers.back(), number_of_the_lead()); },
                                    std::chrono::seconds(10)));
    const std::unique_ptr<Source> one = source();
    EXPECT_TRUE(one->lead().try_lead());
  }
}

TEST_F(LeadTest, AStrangerWithTheLockIsNamed) {
  const std::string role = database().create_role("stranger");
  const auto stranger = database().connect_as(role);
  ASSERT_TRUE(take(*stranger, first_number()));
  const std::unique_ptr<Source> one = source();
  ASSERT_TRUE(one->lead().try_lead());
  EXPECT_THAT(one->outbox().differences_from_applied(),
              Contains(HasSubstr("session " + std::to_string(stranger->backendpid()) + " of role " + role)));
  const std::vector<LeadHolder> holders = status().lead;
  ASSERT_EQ(holders.size(), 2u);
  for (const LeadHolder& holder : holders) {
    EXPECT_EQ(holder.is_lockstep, holder.pid != stranger->backendpid());
    if (holder.is_lockstep) {
      EXPECT_EQ(holder.application, "lockstep lockstep test");
      EXPECT_FALSE(holder.since.empty());
    }
  }
}

TEST_F(LeadTest, AnOlderLockstepThatLeadsIsRespected) {
  // It knows the first number only; and another one is in force.
  const auto older = database().connect();
  {
    const auto stranger = database().connect_as(database().create_role("stranger"));
    ASSERT_TRUE(take(*stranger, first_number()));
    ASSERT_TRUE(source()->lead().try_lead());
  }
  ASSERT_NE(number_of_the_lead(), first_number());
  ASSERT_TRUE(support::wait_until([&] { return take(*older, first_number()); }, std::chrono::seconds(10)));
  EXPECT_FALSE(source()->lead().try_lead());
  EXPECT_TRUE(source()->lead().is_led());
}

TEST_F(LeadTest, AnOlderLockstepCannotLeadBesideThisOne) {
  const std::unique_ptr<Source> one = source();
  ASSERT_TRUE(one->lead().try_lead());
  EXPECT_FALSE(take(*database().connect(), first_number()));
}

// D1. Whoever looks the number up sees the old one, and meanwhile it has changed: the view in the table's
// place does that.
TEST_F(LeadTest, WhoTookANumberThatIsNoLongerInForceDoesNotLead) {
  const std::unique_ptr<Source> one = source();
  database().execute(R"sql(
    alter table lockstep.checkpoint rename to checkpoint_itself;
    create table lockstep.looked_up (number bigint);
    create function lockstep.changed_behind(number bigint) returns bigint language plpgsql volatile as $$
    begin
      if not exists (select from lockstep.looked_up) then
        insert into lockstep.looked_up values (number);
        update lockstep.checkpoint_itself set lead_key = 42;
      end if;
      return number;
    end
    $$;
    do $$
    begin
      execute (select 'create view lockstep.checkpoint as select tableoid, ' ||
                      string_agg(case attname when 'lead_key' then 'lockstep.changed_behind(lead_key) as lead_key'
                                 else quote_ident(attname) end, ', ' order by attnum) ||
                      ' from lockstep.checkpoint_itself'
               from pg_attribute
               where attrelid = 'lockstep.checkpoint_itself'::regclass and attnum > 0 and not attisdropped);
    end
    $$)sql");
  EXPECT_FALSE(one->lead().try_lead());
  EXPECT_EQ(number_of_the_lead(), "42");
  EXPECT_FALSE(one->lead().is_led()) << "it keeps no number";
}

TEST_F(LeadTest, TheLeadHoldsNoTransactionOpen) {
  const std::unique_ptr<Source> one = source();
  ASSERT_TRUE(one->lead().try_lead());
  const pqxx::result session = database().query(
      "select state, backend_xmin is null and backend_xid is null from pg_stat_activity where "
      "application_name = 'lockstep lockstep test' and datname = current_database()");
  ASSERT_EQ(session.size(), 1u);
  EXPECT_STREQ(session[0][0].c_str(), "idle");
  EXPECT_TRUE(session[0][1].as<bool>());
}

TEST_F(LeadTest, TheServerNoticesWithinSecondsThatOurHostIsGone) {
  // Measured with network namespaces: 9 s from the moment when the host vanished until the lock was free.
  PostgresSession session(defined_.config().source, "test");
  const auto setting = [&](const char* name) {
    return std::stoi(
        session.ask("asking", "select setting from pg_settings where name = $1", name)[0][0].c_str());
  };
  if (session.ask("asking", "select inet_server_addr() is null")[0][0].as<bool>()) {
    EXPECT_EQ(setting("tcp_user_timeout"), 0) << "a unix socket has no host that vanishes";
    return;
  }
  EXPECT_LE(
      setting("tcp_keepalives_idle") + setting("tcp_keepalives_interval") * setting("tcp_keepalives_count"),
      15);
  EXPECT_LE(setting("tcp_user_timeout"), 15'000);
  EXPECT_GT(setting("tcp_user_timeout"), 0);
}

TEST_F(LeadTest, ARoleThatMayTakeOnLockstepsRoleIsNoStranger) {
  const std::string run = database().create_role("run");
  const std::string login = database().create_role("login");
  database().execute("grant select, update on lockstep.checkpoint to " + run + "; alter role " + login +
                     " noinherit; grant " + run + " to " + login);
  const auto session = database().connect_as(login);
  ASSERT_TRUE(take(*session, first_number()));
  const std::unique_ptr<Source> one = source();
  EXPECT_FALSE(one->lead().try_lead());
  EXPECT_THAT(one->outbox().differences_from_applied(), IsEmpty());
}

TEST_F(LeadTest, NeverDoTwoLeadWhateverStrangersDo) {
  const std::string role = database().create_role("stranger");
  std::atomic<bool> over = false;
  std::atomic<int> leading = 0;
  std::atomic<int> led = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        const std::unique_ptr<Source> one = source();
        if (!one->lead().try_lead()) continue;
        EXPECT_EQ(++leading, 1);
        std::this_thread::yield();
        EXPECT_TRUE(one->lead().is_led());
        --leading;
        ++led;
      }
    });
  }
  {
    const auto observer = database().connect();
    const auto stranger = database().connect_as(role);
    support::wait_until(
        [&] {
          const std::string number =
              support::execute(
                  *observer,
                  "select coalesce(c.lead_key, hashtextextended(p.identity::text, 0)) from "
                  "lockstep.checkpoint as c join lockstep.pipeline as p on p.id = c.pipeline")[0][0]
                  .c_str();
          if (take(*stranger, number)) support::execute(*stranger, "select pg_advisory_unlock_all()");
          return led >= 30;
        },
        std::chrono::seconds(60));
  }
  over = true;
  threads.clear();
  EXPECT_GE(led, 30);
}

}  // namespace
}  // namespace lockstep
