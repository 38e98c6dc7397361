// `lockstep init`: what it writes is taken by `check` as it is, and no change of any table is missed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/random_seed.h"
#include "tests/support/servers.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;
using testing::Not;

// {n} is a number from 1 to 12: most of them are there, and some are not. A statement that a constraint
// refuses changes nothing.
const std::vector<std::string> kStatements = {
    "update rental.languages set name = 'renamed {n}' where id = {n} % 4 + 1",
    "update rental.films set title = 'renamed {n}' where id = {n}",
    "update rental.films set language_id = {n} % 4 + 1 where id = {n}",
    "update rental.films set original_language_id = nullif({n} % 5, 0) where id = {n}",
    "update rental.films set code = 'code-{m}' where id = {n}",
    "update rental.films set facts = '{\"minutes\": {n}, \"note\": \"2026-01-01\"}' where id = {n}",
    "delete from rental.films where id = {n}",
    "insert into rental.films (id, title, code, language_id) values ({n} + 20, 'new', 'code-{m}', 1)",
    "update rental.actors set name = 'renamed {n}' where id = {n}",
    "delete from rental.actors where id = {n}",
    "insert into rental.film_actors (actor_id, film_id) values ({n}, {m})",
    "update rental.film_actors set film_id = {m} where actor_id = {n} and film_id % 3 = 0",
    "update rental.reviews set stars = {n} % 5 where code = 'code-{n}'",
    "update rental.reviews set code = 'code-{m}' where code = 'code-{n}'",
    "insert into rental.reviews values ('code-{n}', 5)",
    "update rental.\"Stores\" set \"Name\" = 'renamed {n}', city_id = {n} % 5 + 1 where id = {n} % 3 + 1",
    "update rental.copies set film_id = {m} where number = {n}",
    "update rental.copies set store_id = {n} % 3 + 1, number = {m} + 20 where store_id = 2 and number = 13",
    "delete from rental.loans where id = {n}",
    "update rental.loans set number = {m}, store_id = {n} % 3 + 1 where id = {n}",
    "update rental.loans set customer_id = {m} where id = {n}",
    "update rental.cities set name = 'renamed {n}' where id = {n}",
    "update rental.customers set name = 'renamed {n}' where id = {n}",
    "update rental.customers set city_id = {m} % 5 + 1, recruited_by = {m} where id = {n}",
    "delete from rental.customers where id = {n} and {m} % 3 = 0",
    "insert into rental.payments values ({n} + 100, '2026-02-01', {m}, {m})",
    "update rental.payments set amount = {m}, customer_id = {n} where id = {m}",
    "update rental.payments set paid_on = date '2026-03-01' + {m} where id = {n}",
    "delete from rental.payments where id = {n}",
};

std::string filled(std::string statement, const std::string& hole, int number) {
  for (std::size_t at; (at = statement.find(hole)) != std::string::npos;)
    statement.replace(at, hole.size(), std::to_string(number));
  return statement;
}

class Init : public testing::Test {
 protected:
  Init() : index_("init") { database_.run(LOCKSTEP_SOURCE_DIR "/tests/support/rental_schema.sql"); }

  std::filesystem::path file(const std::string& extension) const {
    return folder_.path() / "made" / (index_.alias() + extension);
  }
  std::string text(const std::string& extension) const {
    std::ifstream in(file(extension));
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
  }

  Completed init(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"init",         "--source",        database_.url(),    "--alias",
                                 index_.alias(), "--elasticsearch", elasticsearch_url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.push_back((folder_.path() / "made").string());
    return run_program(lockstep_program(), all);
  }

  Completed lockstep(const std::string& verb, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {verb, "-c", file(".toml").string()});
    return run_program(lockstep_program(), arguments);
  }

  void must(const std::string& verb, const std::vector<std::string>& arguments = {}) const {
    const Completed completed = lockstep(verb, arguments);
    ASSERT_EQ(completed.exit_code, 0) << verb << "\n" << completed.out << completed.err << text(".toml");
  }

  // Fills the index, changes rows of every table, follows, compares.
  void expect_that_no_change_is_missed() {
    const Completed up = lockstep("up", {"--until-caught-up"});
    ASSERT_EQ(up.exit_code, 0) << up.out << up.err << text(".toml");
    EXPECT_THAT(up.out, Not(HasSubstr(".toml:"))) << "check warns of the file\n" << text(".toml");
    std::mt19937 random(random_seed());
    std::uniform_int_distribution<int> number(1, 12);
    std::string all;
    for (int round = 0; round < 2; ++round) {
      for (const std::string& statement : kStatements) {
        const std::string sql = filled(filled(statement, "{n}", number(random)), "{m}", number(random));
        all += "begin " + sql + "; exception when integrity_constraint_violation then null; end;\n";
      }
      database_.execute("do $do$ begin\n" + all + "end $do$");
      all.clear();
    }
    EXPECT_GT(database_.number("select count(*) from lockstep.outbox"), 0) << "no change was captured";
    must("run", {"--until-caught-up"});
    must("verify");
    EXPECT_EQ(index_.count(), database_.number("select count(*) from " + view_));
    EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 0);
  }

  PostgresDatabase database_;
  TemporaryFolder folder_;
  ElasticsearchIndex index_;
  std::string view_ = "search.films";
};

TEST_F(Init, FromAViewWritesTracksThatMissNoChange) {
  const Completed made = init({"--view", "search.films"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("wrote " + file(".toml").string()));
  EXPECT_THAT(made.out, Not(HasSubstr("not known")));
  const auto fields = nlohmann::json::parse(text(".json")).at("mappings").at("properties");
  EXPECT_EQ(fields.at("stores").at("type"), "text") << "JSON texts are no objects";
  EXPECT_EQ(fields.at("actors").at("type"), "object");
  EXPECT_EQ(fields.at("rating").at("type"), "keyword");
  EXPECT_THAT(text(".sql"), HasSubstr("create index concurrently on rental.film_actors (film_id);"));
  expect_that_no_change_is_missed();
}

TEST_F(Init, FromATableWritesAViewAndTracksThatMissNoChange) {
  view_ = "search.customers";
  const Completed made = init({"--table", "rental.customers", "--with", "cities,loans,payments,rental.copies",
                               "--with", "films,customers,actors,Stores"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  database_.run(file(".sql"));
  const auto document = nlohmann::json::parse(
      *database_.value("select row_to_json(c) from (select * from search.customers where _id = 2) as c"));
  EXPECT_EQ(document.at("city").at("name"), "city 3");
  EXPECT_EQ(document.at("customers").at("name"), "customer 1") << "the one who recruited this one";
  expect_that_no_change_is_missed();
}

TEST_F(Init, OverwritesNothing) {
  ASSERT_EQ(init({"--view", "search.films"}).exit_code, 0);
  const std::string before = text(".toml");
  std::filesystem::remove(file(".json"));
  const Completed again = init({"--table", "rental.films"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("search.films exists already"));
  const Completed other = init({"--table", "rental.cities"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr(file(".toml").string() + " is there already"));
  EXPECT_EQ(text(".toml"), before);
  EXPECT_FALSE(std::filesystem::exists(file(".json"))) << "something was written all the same";
}

TEST_F(Init, SaysWhatItCannotKnowAndCheckDoesNotPassIt) {
  database_.execute(
      "create table rental.notices (films integer[], text text);"
      "create view search.noticed as select f.id as _id, f.title, (select count(*) from rental.notices as n "
      "where f.id = any(n.films)) as notices from rental.films as f");
  const Completed made = init({"--view", "search.noticed"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: no foreign key and no equality leads from rental.notices"));
  EXPECT_THAT(text(".toml"), HasSubstr("# table = \"rental.notices\""));
  const Completed up = lockstep("up");
  EXPECT_EQ(up.exit_code, 1);
  EXPECT_THAT(up.out, HasSubstr("rental.notices, which no track covers"));
  EXPECT_EQ(database_.number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
}

TEST_F(Init, TakesWhateverComesIntoAColumnThatIsEmptyYet) {
  database_.execute("create view search.empty as select id as _id, null::json as later from rental.films");
  const Completed made = init({"--view", "search.empty"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: what is in column later"));
  const auto fields = nlohmann::json::parse(text(".json")).at("mappings").at("properties");
  EXPECT_EQ(fields.at("later").at("enabled"), false) << "texts would be refused by an object";
}

TEST_F(Init, RunsNobodysCodeWithRightsThatItsOwnerLacks) {
  const std::string role = database_.create_role("viewer");
  database_.execute(
      "create view search.trap as select 1 as _id, '{}'::json as fields; alter view search.trap owner to " +
      role);
  const Completed made = init({"--view", "search.trap"});
  EXPECT_EQ(made.exit_code, 2);
  EXPECT_THAT(made.err, HasSubstr(role + ", the owner of view search.trap, could run code"));
}

TEST_F(Init, NamesWhatIsWrongWithItsArguments) {
  database_.execute(
      "create view search.both as select id as _id from rental.films union select id from rental.actors");
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "--view NAME or --table NAME"},
           {{"--view", "search.nothing"}, "search.nothing"},
           {{"--view", "rental.films"}, "is a table, not a view"},
           {{"--view", "search.both"}, "does not tell which table"},
           {{"--view", "search.films", "--with", "actors"}, "--with goes with --table"},
           {{"--table", "rental.copies"}, "a primary key of several columns"},
           {{"--table", "actors", "--with", "cities"}, "no foreign key and no table of links joins it"},
           {{"--table", "actors", "--with", "nothing"}, "there is no table nothing"}}) {
    const Completed made = init(arguments);
    EXPECT_EQ(made.exit_code, 2) << message;
    EXPECT_THAT(made.err, HasSubstr(message));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "made"));
}

}  // namespace
}  // namespace lockstep::support
