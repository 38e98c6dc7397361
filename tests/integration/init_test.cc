// `lockstep init`: what it writes is taken by `check` as it is, and no change of any table is missed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/init_fixture.h"

namespace lockstep::support {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

class Init : public InitFixture {
 protected:
  Init() : InitFixture("rental_schema.sql", kStatements) { view_ = "search.films"; }
};

TEST_F(Init, FromAViewWritesTracksThatMissNoChange) {
  const Completed made = init({"--view", "search.films"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("wrote " + file(".toml").string()));
  EXPECT_THAT(made.out, Not(HasSubstr("not known")));
  const nlohmann::json fields = this->fields();
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

TEST_F(Init, FromASchemaFileOfPgsyncWritesAViewAndTracksThatMissNoChange) {
  std::ofstream(folder_.path() / "schema.json") << R"([{
    "database": "rental", "index": "films", "setting": {"number_of_shards": 1, "number_of_replicas": 0},
    "nodes": {
      "table": "films", "schema": "rental", "columns": ["id", "title", "rating", "language_id"],
      "transform": {"rename": {"title": "name"}, "mapping": {"name": {"type": "keyword"}}, "replace": {"name": {"-": "="}}},
      "children": [
        {"table": "languages", "schema": "rental", "label": "language", "columns": ["name"],
         "relationship": {"variant": "object", "type": "one_to_one",
                          "foreign_key": {"child": ["id"], "parent": ["language_id"]}}},
        {"table": "actors", "schema": "rental", "columns": ["name"],
         "relationship": {"variant": "scalar", "type": "one_to_many", "through_tables": ["rental.film_actors"]}},
        {"table": "copies", "schema": "rental", "columns": ["number"],
         "relationship": {"variant": "object", "type": "one_to_many"},
         "children": [{"table": "Stores", "schema": "rental", "label": "store",
                       "relationship": {"variant": "object", "type": "one_to_one"}}]}
      ]
    }
  }])";
  view_ = "search.\"" + index_.alias() + "\"";
  const Completed made = init({"--from-pgsync", (folder_.path() / "schema.json").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("schema.json: [0].nodes.transform.replace: texts that are replaced"));
  database_.run(file(".sql"));
  const auto document = nlohmann::json::parse(
      *database_.value("select row_to_json(f) from (select * from " + view_ + " where _id = 2) as f"));
  EXPECT_EQ(document.at("name"), "film 2");
  EXPECT_EQ(document.at("language").dump(), R"({"name":"language 3"})");
  EXPECT_EQ(document.at("actors").dump(), R"(["actor 2","actor 6","actor 10"])");
  EXPECT_EQ(document.at("copies").at(0).at("store").at("Name"), "store 1");
  expect_that_no_change_is_missed();
}

TEST_F(Init, FromAPipelineFileOfLogstashWritesAViewAndTracksThatMissNoChange) {
  std::ofstream(folder_.path() / "films.conf") << R"(
input {
  jdbc {
    jdbc_connection_string => "jdbc:postgresql://elsewhere/rental"
    schedule => "* * * * *"
    statement => "SELECT f.id, f.title AS name, l.name AS language, f.updated_at
                  FROM rental.films f JOIN rental.languages l ON l.id = f.language_id
                  WHERE f.updated_at > :sql_last_value AND f.updated_at < NOW() ORDER BY f.updated_at"
  }
}
filter { mutate { uppercase => ["name"] } }
output { elasticsearch { index => "films" document_id => "%{id}" } }
)";
  view_ = "search.\"" + index_.alias() + "\"";
  const Completed made = init({"--from-logstash", (folder_.path() / "films.conf").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("films.conf:11: the filter mutate; write its work as SQL in the view"));
  EXPECT_EQ(database_.number("select count(*) from pg_views where viewname = '" + index_.alias() + "'"), 0)
      << "it is only tried";
  database_.run(file(".sql"));
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
  EXPECT_THAT(
      made.out,
      HasSubstr(
          "! not known: the view reads rental.notices in a place from which no equality of columns leads to "
          "rental.films; a track to every document serves"));
  EXPECT_THAT(text(".toml"),
              HasSubstr("# table = \"rental.notices\"\n# keys = \"select t1.id from rental.films as "
                        "t1\"\n"));
  const Completed up = lockstep("up");
  EXPECT_EQ(up.exit_code, 2);
  EXPECT_THAT(up.out, HasSubstr("rental.notices, which no track covers"));
  EXPECT_EQ(database_.number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
}

TEST_F(Init, TakesWhateverComesIntoAColumnThatIsEmptyYet) {
  database_.execute("create view search.empty as select id as _id, null::json as later from rental.films");
  const Completed made = init({"--view", "search.empty"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: the contents of column later"));
  const nlohmann::json fields = this->fields();
  EXPECT_EQ(fields.at("later").at("enabled"), false) << "texts would be refused by an object";
}

TEST_F(Init, AColumnOfJsonTextsInATableIsNoObject) {
  database_.execute(
      "create table rental.books (isbn text primary key, tags jsonb, later jsonb); insert into rental.books "
      "values ('1', '[\"a\", \"b\"]', null)");
  const Completed made = init({"--table", "rental.books"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: the contents of field later"));
  const nlohmann::json fields = this->fields();
  EXPECT_EQ(fields.at("tags").at("type"), "text");
  EXPECT_EQ(fields.at("later").at("enabled"), false);
}

// Each document was refused: a keyword takes no object.
TEST_F(Init, AColumnOfACompositeTypeIsAnObject) {
  database_.execute(
      "create type rental.size as (w int, h int); create table rental.boxes (id int primary key, size "
      "rental.size, "
      "sizes rental.size[]); insert into rental.boxes values (1, (1, null)::rental.size, array[(2, "
      "3)::rental.size]); "
      "create view search.boxes as select id as _id, size, sizes from rental.boxes");
  const Completed made = init({"--view", "search.boxes"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const nlohmann::json fields = this->fields();
  for (const char* const name : {"size", "sizes"}) EXPECT_EQ(fields.at(name).at("type"), "object") << name;
}

// Nothing was written, not even the mapping.
TEST_F(Init, AViewWhoseIdHasSeveralColumnsLeavesAPlaceForEachTrackAndAUnionHasAllOfThem) {
  database_.execute(
      "create view search.copies as select store_id::text || ':' || number::text as _id, film_id from "
      "rental.copies");
  const Completed made = init({"--view", "search.copies"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("! not known: what leads from rental.copies to an _id"));
  EXPECT_EQ(fields().size(), 1U);
  EXPECT_THAT(text(".toml"), HasSubstr("# table = \"rental.copies\""));
  const Completed checked = lockstep("check");
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.err, HasSubstr("tracks no table"));

  std::filesystem::remove_all(folder_.path() / "made");
  database_.execute(
      "create view search.both as select id as _id from rental.films union select id from rental.actors");
  EXPECT_THAT(init({"--view", "search.both"}).out, Not(HasSubstr("! not known")));
  EXPECT_THAT(text(".toml"),
              AllOf(HasSubstr("table = \"rental.actors\"\n"), HasSubstr("table = \"rental.films\"\n")));
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
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "--view NAME, --table NAME, --from-pgsync FILE or --from-logstash FILE"},
           {{"--view", "search.nothing"}, "search.nothing"},
           {{"--view", "rental.films"}, "is a table, not a view"},
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
