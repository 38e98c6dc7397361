// Equal at rest, proved or disproved: what verify says of an index, and what --repair makes of it.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Verify : public BlogTest {
 protected:
  void damage_everything() {
    posts_.damage("1", std::nullopt);
    posts_.damage("2", R"({"title":"altered"})");
    posts_.damage("surplus", R"({"title":"nobody's"})");
    posts_.damage("99999", R"({"title":"a number, but no row"})");
  }
};

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

TEST_F(Verify, EqualIndicesEndWithZero) {
  bring_up();
  const Completed verified = pipeline_.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST_F(Verify, MissingSurplusAndDifferentDocumentsAreNamedAndEndWithThree) {
  bring_up();
  damage_everything();
  const Completed verified = pipeline_.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 3) << verified.out << verified.err;
  EXPECT_EQ(lines_of(verified.out),
            (std::multiset<std::string>{
                posts_.alias() + "\tmissing\t\"1\"", posts_.alias() + "\tdifferent\t\"2\"",
                posts_.alias() + "\tsurplus\t\"surplus\"", posts_.alias() + "\tsurplus\t\"99999\""}))
      << "each is named once";
  EXPECT_EQ(document("2"), R"({"title":"altered"})") << "without --repair nothing is written";
}

// Elasticsearch refuses a request that asks for an empty _id, and with it the whole comparison.
TEST(VerifyOfKeys, ADocumentWithAnEmptyIdIsMissingAndTheOthersAreCompared) {
  PostgresDatabase database;
  PipelineUnderTest pipeline(database);
  database.execute(
      "create table items (id text primary key, name text); insert into items values ('', 'empty'), ('a', "
      "'one'); "
      "create view items_view as select id as _id, name from items");
  ElasticsearchIndex& index = pipeline.add_index("items", "public.items_view", track("public.items"));
  pipeline.apply();
  pipeline.catch_up();
  index.damage("a", R"({"name":"altered"})");
  const Completed verified = pipeline.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 3) << verified.err;
  EXPECT_EQ(lines_of(verified.out).count(index.alias() + "\tdifferent\t\"a\""), 1U) << verified.out;
  EXPECT_NE(verified.out.find("missing\t\"\""), std::string::npos) << verified.out;
}

TEST_F(Verify, RepairMendsExactlyWhatDiffers) {
  bring_up();
  damage_everything();
  const auto before = proxy_.history().operations();
  pipeline_.lockstep("verify", {"--repair"});
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_LE(proxy_.history().operations() - before, 8) << "it wrote more than what differed";
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(Verify, RepairWorksBesideAProgramThatRuns) {
  follow();
  EXPECT_TRUE(becomes_equal());
  damage_everything();
  const Completed repaired = pipeline_.lockstep("verify", {"--repair"});
  EXPECT_TRUE(becomes_equal()) << repaired.out << repaired.err;
  execute("update blog.posts set title = 'goes on' where id in (1, 2)");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Verify, OnlyTheNamedIndicesAreCompared) {
  execute("create view search.authors as select id as _id, name from blog.authors");
  ElasticsearchIndex& authors = pipeline_.add_index("authors", "search.authors", track("blog.authors"));
  bring_up();
  damage_everything();
  EXPECT_EQ(pipeline_.lockstep("verify", {authors.alias()}).exit_code, 0);
  EXPECT_EQ(pipeline_.lockstep("verify", {posts_.alias()}).exit_code, 3);
  EXPECT_EQ(pipeline_.lockstep("verify", {"no-such-alias"}).exit_code, 2);
}

TEST_F(Verify, ChangesThatHappenMeanwhileAreNoDifference) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post' from generate_series(1001, "
      "6000) i");
  follow();
  EXPECT_TRUE(becomes_equal());
  Program verifying(lockstep_program(), {"verify", "-c", pipeline_.configuration().string()});
  for (int i = 0; verifying.running(); ++i) {
    execute("update blog.posts set title = 'now ' || " + std::to_string(i) +
            " where id % 100 = " + std::to_string(i % 100));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(verifying.wait(kPatience), 0) << verifying.out() << verifying.err();
}

// Each of its waits for what was pending was longer than the one before.
TEST_F(Verify, ChangesThatComeFasterThanTheyAreAppliedDoNotKeepItForEver) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post' from generate_series(1001, "
      "2000) i");
  follow();
  EXPECT_TRUE(becomes_equal());
  posts_.damage("2", R"({"title":"altered"})");
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    return RecordingProxy::is_bulk(request) ? std::optional(Disturbance{.delay = 100ms}) : std::nullopt;
  });
  Program verifying(lockstep_program(), {"verify", "-c", pipeline_.configuration().string()});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; verifying.running() && std::chrono::steady_clock::now() - begin < 90s; ++i) {
    execute("update blog.posts set title = 'now ' || " + std::to_string(i) + " where id > 1500");
  }
  ASSERT_FALSE(verifying.running()) << verifying.err();
  EXPECT_EQ(verifying.wait(kPatience), 3) << "what nobody changes is judged: " << verifying.err();
  EXPECT_EQ(verifying.out(), posts_.alias() + "\tdifferent\t\"2\"\n");
  EXPECT_NE(verifying.err().find("never stopped changing"), std::string::npos) << verifying.err();
}

TEST_F(Verify, LargeIndicesAndRoutedOnesAndTextKeysAreCompared) {
  execute(
      "create table blog.items (key text primary key, tenant text, payload json); "
      "insert into blog.items select 'k ' || i || '/ü', 'tenant ' || i % 7, json_build_object('n', i * 1.10) "
      "from generate_series(1, 12000) i; "
      "create view search.items as select key as _id, tenant as _routing, payload from blog.items");
  ElasticsearchIndex& items = pipeline_.add_index("items", "search.items", track("blog.items"));
  bring_up();
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
  items.damage("k 77/ü", std::nullopt, "tenant 0");
  items.damage("k 78/ü", R"({"payload":{"n":0}})", "tenant 1");
  items.damage("k 79/ü", R"({"payload":null})", "under a wrong routing");
  const Completed verified = pipeline_.lockstep("verify", {"--repair"});
  EXPECT_NE(verified.out.find("k 77/ü"), std::string::npos) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("k 78/ü"), std::string::npos) << verified.out;
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

// There are as many documents as there should be: one twice, and one not at all.
TEST_F(Verify, ADocumentThatIsThereTwiceDoesNotHideOneThatIsMissing) {
  execute(
      "create table blog.notes (id integer primary key, text text); "
      "insert into blog.notes select i, 'note ' || i from generate_series(1, 100) i; "
      "create view search.notes as select id as _id, text from blog.notes");
  ElasticsearchIndex& notes = pipeline_.add_index(
      "notes", "search.notes", track("blog.notes"),
      R"({"settings": {"number_of_shards": 8, "number_of_replicas": 0}, "mappings": {"dynamic": false}})");
  bring_up();
  notes.damage("7", std::nullopt);
  for (int i = 0; notes.count() < 100; ++i) {  // until a routing leads to another shard
    notes.damage("8", R"({"text":"note 8"})", "routing " + std::to_string(i));
  }
  const Completed verified = pipeline_.lockstep("verify", {notes.alias()});
  EXPECT_EQ(verified.exit_code, 3) << verified.err;
  EXPECT_NE(verified.out.find("\tmissing\t\"7\""), std::string::npos) << verified.out;
  EXPECT_NE(verified.out.find("\tsurplus\t\"8\"\trouting"), std::string::npos) << verified.out;
}

TEST_F(Verify, ADocumentWhoseIdTheViewCannotHaveIsSurplus) {
  execute(
      "create table blog.tokens (id uuid primary key, text text); "
      "insert into blog.tokens values ('0a0b0c0d-0000-4000-8000-00000000000e', 'a token'); "
      "create view search.tokens as select id as _id, text from blog.tokens");
  ElasticsearchIndex& tokens = pipeline_.add_index("tokens", "search.tokens", track("blog.tokens"));
  bring_up();
  const std::string upper = "0A0B0C0D-0000-4000-8000-00000000000E";
  const std::string braced = "{0a0b0c0d-0000-4000-8000-00000000000e}";
  for (const std::string& id : {upper, braced, std::string("none")})
    tokens.damage(id, R"({"text":"a token"})");
  const Completed verified = pipeline_.lockstep("verify", {tokens.alias()});
  EXPECT_EQ(verified.exit_code, 3) << verified.err;
  const std::string surplus = tokens.alias() + "\tsurplus\t\"";
  EXPECT_EQ(lines_of(verified.out),
            (std::multiset<std::string>{surplus + upper + '"', surplus + braced + '"', surplus + "none\""}));
}

TEST_F(Verify, ADocumentMuchLargerThanThePagesIsComparedToo) {
  execute("update blog.posts set title = repeat('long ', 1000000) where id in (3, 4)");
  bring_up();
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
  posts_.damage("4", R"({"title":"short"})");
  EXPECT_EQ(lines_of(pipeline_.lockstep("verify").out),
            (std::multiset<std::string>{posts_.alias() + "\tdifferent\t\"4\""}));
}

TEST_F(Verify, AnArrayInAnotherOrderIsReorderedAndNotDifferentForEver) {
  execute(
      "create table blog.tags (id integer primary key, post_id integer not null, name text, hits integer); "
      "insert into blog.tags select i, 1, 'tag ' || i, 0 from generate_series(1, 3) i; "
      "create view search.tagged as select p.id as _id, p.title, (select json_agg(t.name) from blog.tags t "
      "where "
      "t.post_id = p.id) as tags from blog.posts p");
  ElasticsearchIndex& tagged = pipeline_.add_index(
      "tagged", "search.tagged", track("blog.posts") + track("blog.tags", {{"row", "post_id"}}));
  bring_up();
  execute("update blog.tags set hits = 1 where id = 1");  // no document shows it, and the row moves
  const Completed verified = pipeline_.lockstep("verify", {tagged.alias()});
  EXPECT_EQ(verified.exit_code, 3) << verified.err;
  EXPECT_EQ(verified.out, tagged.alias() + "\treordered\t\"1\"\n");
  EXPECT_NE(verified.err.find("1 is equal but for the order of an array"), std::string::npos) << verified.err;
  EXPECT_NE(verified.err.find("--any-order"), std::string::npos) << verified.err;
  const Completed in_any_order = pipeline_.lockstep("verify", {tagged.alias(), "--any-order"});
  EXPECT_EQ(in_any_order.exit_code, 0) << in_any_order.out << in_any_order.err;
  EXPECT_EQ(in_any_order.out, "");
  EXPECT_NE(in_any_order.err.find("1 is equal but for the order of an array"), std::string::npos)
      << in_any_order.err;
  tagged.damage("1", R"({"title":"altered","tags":["tag 1","tag 2"]})");
  EXPECT_EQ(pipeline_.lockstep("verify", {tagged.alias(), "--any-order"}).exit_code, 3);
}

TEST_F(Verify, EveryWayToWriteOneValueIsEqual) {
  execute(
      "create table blog.raw (id integer primary key, payload json); "
      "insert into blog.raw values (1, '{\"a\" :  1.0, \"b\":\n[ ]}'), (2, '1e2'), (3, '\"\\u00e9\"'); "
      "create view search.raw as select id as _id, payload from blog.raw");
  ElasticsearchIndex& raw = pipeline_.add_index("raw", "search.raw", track("blog.raw"));
  bring_up();
  raw.damage("1", R"({"payload": {"b": [], "a": 1.0}})");
  raw.damage("3", R"({"payload": "é"})");
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

}  // namespace
}  // namespace lockstep::support
