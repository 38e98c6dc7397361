// What apply does to a database and to Elasticsearch, how often it is said, and how it is taken back.
#include <gtest/gtest.h>

#include <future>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

// Everything in the database that somebody made, by name.
std::string catalog(PostgresDatabase& database) {
  return database
      .value(
          "select string_agg(line, E'\\n' order by line) from ("
          "select 'schema ' || nspname || ' ' || coalesce(nspacl::text, '') as line from pg_namespace where "
          "nspname !~ '^pg_' "
          "union all select 'relation ' || oid::regclass || ' ' || relkind::text || ' ' || "
          "coalesce(relacl::text, "
          "'') from pg_class "
          "  where relnamespace::regnamespace::text !~ '^(pg_|information_schema)' "
          "union all select 'function ' || oid::regprocedure || ' ' || coalesce(proacl::text, '') from "
          "pg_proc "
          "  where pronamespace::regnamespace::text !~ '^(pg_|information_schema)' "
          "union all select 'trigger ' || tgrelid::regclass || ' ' || tgname from pg_trigger where not "
          "tgisinternal "
          "union all select 'type ' || oid::regtype from pg_type where typnamespace::regnamespace::text !~ "
          "'^(pg_|information_schema)' "
          "union all select 'event trigger ' || evtname from pg_event_trigger "
          "union all select 'publication ' || pubname from pg_publication "
          "union all select 'slot ' || slot_name from pg_replication_slots where database = "
          "current_database() "
          "union all select 'extension ' || extname from pg_extension) as c")
      .value();
}

// The same with what tells whether an object was made anew, and what lockstep's tables say.
std::string catalog_with_identities(PostgresDatabase& database) {
  return catalog(database) + "\n" +
         database
             .value(
                 "select string_agg(line, E'\\n' order by line) from ("
                 "select 'trigger ' || oid || ' ' || xmin as line from pg_trigger where not tgisinternal "
                 "union all select 'function ' || oid || ' ' || xmin from pg_proc where pronamespace = "
                 "'lockstep'::regnamespace "
                 "union all select 'relation ' || oid from pg_class where relnamespace = "
                 "'lockstep'::regnamespace "
                 "union all select 'index ' || i::text from lockstep.index i "
                 "union all select 'capture ' || c::text from lockstep.capture c "
                 "union all select 'track ' || t::text from lockstep.track t "
                 "union all select 'job ' || j::text from lockstep.job j) as c")
             .value();
}

class Apply : public BlogTest {
 protected:
  std::string index_settings() { return posts_.server().expect("GET", "/" + posts_.alias() + "*").dump(); }
};

TEST_F(Apply, ASecondApplyChangesNothing) {
  bring_up();
  const std::string before = catalog_with_identities(database_);
  const std::string indices = index_settings();
  pipeline_.apply();
  EXPECT_EQ(catalog_with_identities(database_), before);
  EXPECT_EQ(index_settings(), indices);
}

TEST_F(Apply, PlanChangesNothingAndTellsWhetherApplyWould) {
  const std::string before = catalog(database_);
  const Completed first = pipeline_.lockstep("plan", {"--exit-code"});
  EXPECT_EQ(first.exit_code, 3) << first.out << first.err;
  EXPECT_NE(first.out.find("blog.posts"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find(posts_.alias()), std::string::npos) << first.out;
  EXPECT_EQ(catalog(database_), before);
  EXPECT_TRUE(posts_.concrete().empty());
  bring_up();
  const Completed second = pipeline_.lockstep("plan", {"--exit-code"});
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  execute(
      "create or replace view search.posts as select p.id as _id, p.author_id as _author_id, p.title, "
      "p.body, a.name as author, "
      "array[]::text[] as comments, p.seen from blog.posts p left join blog.authors a on a.id = p.author_id");
  pipeline_.set_tracks("posts", track("blog.posts") + track("blog.authors", {{"column", "_author_id"}}));
  EXPECT_EQ(pipeline_.lockstep("plan", {"--exit-code"}).exit_code, 3);
  EXPECT_EQ(pipeline_.lockstep("plan").exit_code, 0);
}

TEST_F(Apply, AChangedViewBringsEveryDocumentToItsNewShape) {
  bring_up();
  execute(
      "drop view search.posts; create view search.posts as select p.id as _id, p.author_id as _author_id, "
      "upper(p.title) as title, "
      "p.seen, a.name as author, (select array_agg(c.text order by c.id) from blog.comments c where "
      "c.post_id = p.id) as comments "
      "from blog.posts p left join blog.authors a on a.id = p.author_id where p.id > 3");
  pipeline_.apply();
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  // And what it reads now is followed now.
  execute("update blog.posts set seen = 99 where id = 10");
  pipeline_.catch_up();
  EXPECT_NE(document("10").find("\"seen\":99"), std::string::npos) << document("10");
  EXPECT_TRUE(is_equal());
}

TEST_F(Apply, AChangedViewIsTakenUpByAProgramThatRuns) {
  follow();
  execute(
      "create or replace view search.posts as select p.id as _id, p.author_id as _author_id, p.title, "
      "p.body, a.name as author, "
      "(select array_agg(c.text order by c.id) from blog.comments c where c.post_id = p.id) as comments, "
      "p.seen "
      "from blog.posts p left join blog.authors a on a.id = p.author_id where p.visible");
  pipeline_.apply();
  execute("update blog.posts set seen = 5 where id = 1");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Apply, RemoveLeavesNoTraceInTheCatalog) {
  const std::string before = catalog(database_);
  bring_up();
  EXPECT_NE(catalog(database_), before);
  pipeline_.must("remove", {"--yes"});
  EXPECT_EQ(catalog(database_), before);
  EXPECT_EQ(posts_.concrete().size(), 1U) << "without --indices they stay";
  execute("update blog.posts set title = 'unwatched'");
}

TEST_F(Apply, RemoveTakesTheIndicesTooWhenAsked) {
  bring_up();
  pipeline_.must("remove", {"--yes", "--indices"});
  EXPECT_TRUE(posts_.concrete().empty());
}

TEST_F(Apply, RemoveAndApplyAgainBeginAnew) {
  bring_up();
  pipeline_.must("remove", {"--yes", "--indices"});
  execute("update blog.posts set title = 'between' where id = 1; delete from blog.posts where id = 2");
  bring_up();
  EXPECT_TRUE(is_equal());
}

// It began with a backfill alone, since it was new to the source: what was deleted meanwhile stayed for ever.
TEST_F(Apply, AnIndexThatIsTakenOutAndPutBackKeepsNothingThatWasDeletedMeanwhile) {
  execute("create view search.authors as select id as _id, name, email from blog.authors");
  pipeline_.add_index("authors", "search.authors", track("blog.authors"));
  bring_up();
  pipeline_.set_configured("posts", false);
  pipeline_.apply();
  pipeline_.catch_up();
  execute("update blog.posts set title = 'between' where id = 1; delete from blog.posts where id = 2");
  pipeline_.set_configured("posts", true);
  const std::string done = pipeline_.must("apply", {"--yes"});
  EXPECT_NE(done.find("beginning with a comparison"), std::string::npos) << done;
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

TEST_F(Apply, TwoAtOnceMakeAnIndexOnce) {
  bring_up();
  execute("create view search.authors as select id as _id, name, email from blog.authors");
  pipeline_.add_index("authors", "search.authors", track("blog.authors"));
  const std::vector<std::string> arguments{"apply", "-c", pipeline_.configuration().string(), "--yes"};
  const auto apply = [&] { return run_program(lockstep_program(), arguments, {}, kPatience); };
  std::future<Completed> other = std::async(std::launch::async, apply);
  for (const Completed& each : {apply(), other.get()}) EXPECT_EQ(each.exit_code, 0) << each.out << each.err;
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.difference(), "");
}

// The versions of the documents in an index that was kept are those of the pipeline that is gone.
TEST_F(Apply, VersionsThatBeginAnewOverAKeptIndexLoseNoChange) {
  bring_up();
  kill();
  pipeline_.must("remove", {"--yes"});
  execute("update blog.posts set title = 'between' where id = 1; delete from blog.posts where id = 2");
  const Completed applied = pipeline_.lockstep("apply", {"--yes"});
  if (applied.exit_code == 0) {
    pipeline_.catch_up();
    EXPECT_TRUE(is_equal());
  } else {
    EXPECT_NE(applied.err.find(posts_.alias()), std::string::npos) << applied.err;
    EXPECT_EQ(posts_.count(), 20) << "a refused index is left as it is";
  }
}

TEST_F(Apply, ASecondConfigurationOnTheSameDatabaseIsIndependent) {
  PipelineUnderTest other(database_);
  other.set_name("other");
  ElasticsearchIndex& authors = other.add_index("authors", "search.authors", track("blog.authors"));
  execute("create view search.authors as select id as _id, name, email from blog.authors");
  follow();
  other.apply();
  other.catch_up();
  execute(
      "update blog.authors set name = 'both' where id = 1; update blog.authors set email = 'one' where id = "
      "2");
  EXPECT_TRUE(becomes_equal());
  other.catch_up();
  EXPECT_EQ(other.difference(), "");
  other.must("remove", {"--yes"});
  EXPECT_EQ(authors.concrete().size(), 1U);
  execute("update blog.authors set name = 'one left' where id = 1");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Apply, AConfigurationWithASchemaOfItsOwnIsIndependentToo) {
  PipelineUnderTest other(database_);
  other.set_schema("Other schema");
  other.add_index("again", "search.posts", blog_tracks());
  bring_up();
  other.apply();
  execute("update blog.authors set name = 'both' where id = 1");
  other.catch_up();
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_EQ(other.difference(), "");
  other.must("remove", {"--yes"});
  execute("update blog.authors set name = 'one' where id = 1");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

TEST_F(Apply, AnIndexThatBelongsToSomebodyElseIsRefused) {
  posts_.server().expect(
      "PUT", "/" + posts_.alias() + "-000001",
      R"({"aliases": {")" + posts_.alias() + R"(": {}}, "mappings": {"_meta": {"owner": "somebody"}}})");
  posts_.damage("precious", R"({"theirs": true})");
  const Completed applied = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_NE(applied.exit_code, 0) << applied.out;
  EXPECT_NE(applied.err.find(posts_.alias()), std::string::npos) << applied.err;
  EXPECT_EQ(posts_.documents().size(), 1U);
  EXPECT_EQ(document("precious"), R"({"theirs":true})");
}

TEST_F(Apply, AnotherPipelinesIndexIsRefused) {
  bring_up();
  PostgresDatabase elsewhere;
  elsewhere.execute(
      "create schema s; create table s.t (id integer primary key); create view s.v as select id as _id from "
      "s.t");
  PipelineUnderTest other(elsewhere);
  other.add_index("thief", "s.v", track("s.t"));
  {
    const auto path = other.configuration();
    const Completed sed = run_program(
        "sed", {"-i", "s/" + other.index("thief").alias() + "/" + posts_.alias() + "/", path.string()});
    ASSERT_EQ(sed.exit_code, 0);
    const Completed applied = run_program(lockstep_program(), {"apply", "-c", path.string(), "--yes"});
    EXPECT_NE(applied.exit_code, 0) << applied.out;
  }
  EXPECT_TRUE(is_equal());
}

TEST_F(Apply, AMissingAliasMakesNobodyCreateAnIndex) {
  follow();
  const std::string name = posts_.concrete().at(0);
  posts_.server().expect("DELETE", "/" + name);
  execute("update blog.posts set title = 'homeless' where id = 1");
  ASSERT_TRUE(wait_until([&] { return pipeline_.status().at("state") != "following"; }, kPatience));
  EXPECT_TRUE(posts_.concrete().empty()) << "an index was made with a guessed mapping";
  EXPECT_EQ(dead_letters(), 0);
}

}  // namespace
}  // namespace lockstep::support
