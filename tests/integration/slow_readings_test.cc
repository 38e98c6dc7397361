// What takes long in the database, a lock or a row that takes long to render, stops itself and nothing else,
// and is said while it lasts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/program.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Items can be changed by their notes while the table of items itself is locked. A note may take long.
constexpr const char* kSchema =
    "create table items (id integer primary key, name text); "
    "create table notes (id integer primary key, text text, seconds float not null default 0); "
    "create table others (id integer primary key, name text); "
    "insert into items select i, 'item ' || i from generate_series(1, 50) i; "
    "insert into notes select i, 'note ' || i from generate_series(1, 50) i; "
    "insert into others select i, 'other ' || i from generate_series(1, 50) i; "
    "create view items_view as select i.id as _id, i.name, n.text as note, "
    "case when n.seconds > 0 then pg_sleep(n.seconds)::text end as slept "
    "from items as i join notes as n on n.id = i.id; "
    "create view others_view as select id as _id, name from others";

class SlowReadings : public testing::Test {
 protected:
  SlowReadings() {
    database_.execute(kSchema);
    pipeline_.add_index("items", "public.items_view", track("public.items") + track("public.notes"));
    pipeline_.add_index("others", "public.others_view", track("public.others"));

    pipeline_.apply();
    pipeline_.catch_up();
    program_ = pipeline_.start();
    pipeline_.must("wait");
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err() << '\n';
  }

  void execute(const std::string& sql) { database_.execute(sql); }

  void lock_items() {
    locker_ = database_.connect();
    pqxx::nontransaction(*locker_).exec("begin; lock table items in access exclusive mode");
  }
  void unlock_items() { pqxx::nontransaction(*locker_).exec("rollback"); }

  std::string reason() const { return pipeline_.status().at("reason").get<std::string>(); }
  /// Whether the leader says nothing soon.
  testing::AssertionResult falls_silent() {
    std::string told;
    if (wait_until([&] { return (told = reason()).empty(); }, 15s)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << told;
  }

  /// Whether a change of the other index arrives while the tail waits once, no longer.
  testing::AssertionResult others_follow() {
    execute("update others set name = name || '!' where id = 1");
    const std::string difference = [this] {
      std::string last;
      wait_until([&] { return (last = pipeline_.difference("others")).empty(); }, 8s);
      return last;
    }();
    return difference.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << difference;
  }

  int times_stepped_aside() const {
    static const std::regex kLine("its changes become due for a while");
    const std::string log = program_->err();
    return static_cast<int>(std::distance(std::sregex_iterator(log.begin(), log.end(), kLine), {}));
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_{database_};
  std::unique_ptr<Program> program_;
  std::unique_ptr<pqxx::connection> locker_;
};

TEST_F(SlowReadings, ALockOnTheTableOfOneIndexIsNamedAndHoldsUpNoOther) {
  lock_items();
  execute("update notes set text = 'changed' where id = 5");
  EXPECT_TRUE(others_follow());
  const std::string session = std::to_string(locker_->backendpid());
  const std::string holder = "it waits for a lock on public.items that session " + session;
  std::string told;
  EXPECT_TRUE(wait_until([&] { return (told = reason()).find(holder) != std::string::npos; }, 15s)) << told;
  EXPECT_THAT(told, HasSubstr(" of " + pipeline_.index("items").alias() + " has taken "));
  EXPECT_THAT(told, HasSubstr("pg_terminate_backend(" + session + ")"));
  told = pipeline_.lockstep("wait", {"--timeout", "1ms"}).err;
  EXPECT_THAT(told, HasSubstr("document of " + pipeline_.index("items").alias() + " is due"));
  EXPECT_THAT(told, HasSubstr(holder));
  EXPECT_THAT(program_->err(), HasSubstr(holder));
  execute("update notes set text = 'changed again' where id in (5, 6)");
  EXPECT_TRUE(others_follow());
  unlock_items();
  pipeline_.must("wait");
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_TRUE(falls_silent());
  EXPECT_EQ(times_stepped_aside(), 1);
}

TEST_F(SlowReadings, ARowThatTakesLongToRenderHoldsUpNoOtherIndex) {
  execute("update notes set seconds = 6 where id = 7");
  EXPECT_TRUE(others_follow());
  execute("update notes set text = 'meanwhile' where id = 8");
  EXPECT_TRUE(others_follow());
  pipeline_.must("wait");
  execute("update notes set seconds = 0 where id = 7");
  pipeline_.must("wait");
  EXPECT_EQ(pipeline_.difference(), "");
  EXPECT_EQ(times_stepped_aside(), 1);
  EXPECT_EQ(program_->err().find("leading pipeline"), program_->err().rfind("leading pipeline"))
      << "it gave the lead away";
}

TEST(SlowReadingsOfSqlite, AViewThatTakesLongIsNamed) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "shop.db";
  SqliteApplication application(file);
  application.execute(
      "pragma journal_mode = wal; create table items (id integer primary key, name text, n integer); "
      "insert into items values (1, 'one', 0); "
      "create view items_view as select id as _id, name, case when n > 0 then (with recursive c(i) as "
      "(select 1 union all select i + 1 from c where i < n) select count(*) from c) end as counted "
      "from items");
  PipelineUnderTest pipeline("sqlite:" + file.string());
  pipeline.add_index("items", "items_view", track("items"));
  pipeline.apply();
  pipeline.catch_up();
  const auto program = pipeline.start();
  pipeline.must("wait");
  application.execute("update items set n = 1000000000");
  const std::string expected = "rendering documents of " + pipeline.index("items").alias() + " has taken ";
  std::string told;
  EXPECT_TRUE(wait_until(
      [&] { return (told = pipeline.status().at("reason").get<std::string>()).starts_with(expected); }, 15s))
      << told << program->err();
  EXPECT_THAT(program->err(), HasSubstr("rendering documents of "));
  program->kill();
}

}  // namespace
}  // namespace lockstep::support
