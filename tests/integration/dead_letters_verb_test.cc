// lockstep dead-letters: looking through what Elasticsearch refused, trying it again after the mapping was
// corrected, and forgetting it; and the stop when a mapping refuses everything.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string strict_mapping(const std::string& fields) {
  return R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"dynamic": "strict",
      "properties": {)" +
         fields + "}}}";
}

/// Of a post's extra it takes the known fields only.
std::string posts_mapping(const std::string& known) {
  return strict_mapping(
      R"("title": {"type": "keyword"}, "author": {"type": "keyword"}, "body": {"type": "text"},
      "comments": {"type": "keyword"}, "extra": {"properties": {"known": {"type": "keyword"})" +
      known + "}}");
}

/// The mapping takes no post with an extra note, until it is mended.
class DeadLettersVerb : public BlogTest {
 protected:
  DeadLettersVerb() {
    execute(
        "alter table blog.posts add extra jsonb; create or replace view search.posts as "
        "select p.id as _id, p.author_id as _author_id, p.title, p.body, a.name as author, "
        "(select array_agg(c.text order by c.id) from blog.comments c where c.post_id = p.id) as comments, "
        "p.extra "
        "from blog.posts p left join blog.authors a on a.id = p.author_id where p.visible");
    pipeline_.set_mapping("posts", posts_mapping(""));
  }

  static std::string note(const std::string& text) {
    return "extra = jsonb_build_object('note', '" + text + "')";
  }

  void refuse(const std::string& id, const std::string& text = "a note") {
    execute("update blog.posts set " + note(text) + " where id = " + id);
    const std::string letters = "select count(*) from lockstep.dead_letter where id = '" + id + "'";
    ASSERT_TRUE(wait_until([&] { return database_.number(letters) == 1; }, kPatience));
  }

  /// By hand, so that lockstep does not write every document again.
  void mend() {
    posts_.server().expect("PUT", "/" + posts_.alias() + "/_mapping",
                           R"({"properties": {"extra": {"properties": {"note": {"type": "text"}}}}})");
  }

  Completed command(const std::vector<std::string>& arguments) const {
    return pipeline_.lockstep("dead-letters", arguments);
  }

  /// The ids that `list` prints, as it prints them.
  std::string listed(std::vector<std::string> filters = {}) const {
    filters.insert(filters.begin(), "list");
    std::string ids;
    for (const std::string& line : split(pipeline_.must("dead-letters", filters), '\n'))
      ids += split(line, '\t').at(2) + " ";
    return ids;
  }
};

TEST_F(DeadLettersVerb, ListHasALineForEachWithTimeIndexIdErrorAndReason) {
  follow();
  EXPECT_EQ(pipeline_.must("dead-letters", {"list"}), "");
  refuse("1");
  refuse("12");
  const std::vector<std::string> lines = split(pipeline_.must("dead-letters", {"list"}), '\n');
  ASSERT_EQ(lines.size(), 2U);
  const std::vector<std::string> parts = split(lines[0], '\t');
  ASSERT_EQ(parts.size(), 7U) << lines[0];
  EXPECT_EQ(parts[0].substr(0, 2), "20");
  EXPECT_EQ(parts[0].back(), 'Z');
  EXPECT_EQ(parts[1], posts_.alias());
  EXPECT_EQ(parts[2], "\"1\"");
  EXPECT_EQ(parts[3], "");
  EXPECT_EQ(parts[4], "400");
  EXPECT_EQ(parts[5], "strict_dynamic_mapping_exception");
  EXPECT_NE(parts[6].find("note"), std::string::npos) << parts[6];

  const auto json =
      nlohmann::json::parse(split(pipeline_.must("dead-letters", {"list", "--json"}), '\n').at(1));
  EXPECT_EQ(json.at("index"), posts_.alias());
  EXPECT_EQ(json.at("id"), "12");
  EXPECT_TRUE(json.at("routing").is_null());
  EXPECT_EQ(json.at("tries"), 1);
  EXPECT_EQ(json.at("first_at"), json.at("last_at"));
}

TEST_F(DeadLettersVerb, TheyAreChosenByIndexErrorTimeAndId) {
  execute("create view search.authors as select id as _id, name, bio from blog.authors");
  const ElasticsearchIndex& authors =
      pipeline_.add_index("authors", "search.authors", track("blog.authors"),
                          strict_mapping(R"("name": {"type": "keyword"}, "bio": {"type": "integer"})"));
  follow();
  refuse("1");
  refuse("2");
  execute("update blog.authors set bio = 'no number' where id = 3");
  ASSERT_TRUE(wait_until([&] { return dead_letters() == 3; }, kPatience));
  execute("update lockstep.dead_letter set last_at = last_at - interval '3 hours' where id = '1'");

  EXPECT_EQ(listed({"--index", authors.alias()}), "\"3\" ");
  EXPECT_EQ(listed({"--index", posts_.alias(), "--index", authors.alias()}).size(), 12U);
  EXPECT_EQ(listed({"--error", "strict_dynamic_mapping_exception"}), "\"1\" \"2\" ");
  EXPECT_EQ(listed({"--error", "[BIO]"}), "\"3\" ") << "a part of the reason, in any case";
  EXPECT_EQ(listed({"--error", "no such error"}), "");
  EXPECT_EQ(listed({"--until", "2h"}), "\"1\" ");
  EXPECT_EQ(listed({"--since", "2 hours", "--index", posts_.alias()}), "\"2\" ");
  EXPECT_EQ(listed({"--since", "2000-01-01T00:00:00Z", "--until", "2001-01-01"}), "");
  EXPECT_EQ(listed({"3", "1"}).size(), 8U);
  EXPECT_EQ(listed({"--index", posts_.alias(), "3", "1"}), "\"1\" ") << "ids may follow an alias";
  EXPECT_EQ(listed({"1", "2", "--since", "1h"}), "\"2\" ");

  const Completed nonsense = command({"list", "--since", "nonsense"});
  EXPECT_EQ(nonsense.exit_code, 2);
  EXPECT_NE(nonsense.err.find("nonsense"), std::string::npos) << nonsense.err;
  EXPECT_EQ(command({"list", "--index", "no-such-alias"}).exit_code, 2);
  EXPECT_EQ(command({}).exit_code, 2);
  EXPECT_EQ(command({"lst"}).exit_code, 2);
}

TEST_F(DeadLettersVerb, ShowHasTheDocumentAsItIsNow) {
  follow();
  refuse("1");
  execute("update blog.posts set title = 'another title' where id = 1");
  ASSERT_TRUE(
      wait_until([&] { return database_.number("select tries from lockstep.dead_letter") == 2; }, kPatience));
  const std::string text = pipeline_.must("dead-letters", {"show", "1"});
  for (const char* part : {"strict_dynamic_mapping_exception", "tries     2", R"("title":"another title")"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  const auto json = nlohmann::json::parse(pipeline_.must("dead-letters", {"show", "1", "--json"}));
  EXPECT_EQ(json.at("document").at("title"), "another title");
  kill();
  execute("delete from blog.posts where id = 1");
  EXPECT_TRUE(nlohmann::json::parse(pipeline_.must("dead-letters", {"show", "1", "--json"}))
                  .at("document")
                  .is_null());
  EXPECT_EQ(command({"show"}).exit_code, 2) << "it renders each, so they are chosen";
  EXPECT_THAT(pipeline_.must("dead-letters", {"show", "--index", posts_.alias()}),
              testing::HasSubstr("id        \"1\"\n"));
  EXPECT_EQ(command({"show", "999"}).exit_code, 1);
}

TEST_F(DeadLettersVerb, RetryAfterMendingBringsTheCurrentStateNotTheOldOne) {
  follow();
  refuse("1", "the old note");
  refuse("2");
  // A change that nobody hears of: only reading the view anew can tell it.
  execute(
      "alter table blog.posts disable trigger user; "
      "update blog.posts set " +
      note("the note of today") +
      " where id = 1; "
      "alter table blog.posts enable trigger user");
  mend();
  EXPECT_EQ(dead_letters(), 2) << "nobody has told lockstep";
  const Completed retried = command({"retry", "--all"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(retried.out, "");
  EXPECT_EQ(dead_letters(), 0);
  EXPECT_NE(document("1").find("the note of today"), std::string::npos) << document("1");
  EXPECT_TRUE(is_equal());
  EXPECT_TRUE(program_->running()) << program_->err();
}

TEST_F(DeadLettersVerb, AMappingThatApplyMendsNeedsNoRetry) {
  follow();
  refuse("1");
  pipeline_.set_mapping("posts", posts_mapping(R"(, "note": {"type": "text"})"));
  pipeline_.apply();
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 0; }, kPatience));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(DeadLettersVerb, RetryTakesTheLeadWhenNobodyRuns) {
  follow();
  refuse("1");
  kill();
  mend();
  execute("update blog.posts set " + note("later") + " where id in (1, 3)");
  EXPECT_EQ(command({"retry", "1"}).exit_code, 0);
  EXPECT_TRUE(is_equal());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(DeadLettersVerb, RetryTouchesOnlyWhatIsMeantAndNamesWhatIsStillRefused) {
  follow();
  refuse("1");
  refuse("2");
  refuse("3");
  const auto operations = proxy_.history().operations();
  const Completed retried = command({"retry", "1", "2", "--error", "strict"});
  EXPECT_EQ(retried.exit_code, 1);
  EXPECT_EQ(split(retried.out, '\n').size(), 2U) << retried.out;
  EXPECT_NE(retried.err.find("2 dead letters of 2 are still refused"), std::string::npos) << retried.err;
  EXPECT_EQ(proxy_.history().operations() - operations, 2);
  EXPECT_EQ(database_.number("select sum(tries) from lockstep.dead_letter"), 5);
  EXPECT_EQ(command({"retry"}).exit_code, 2) << "all of them only when it is said";
  EXPECT_EQ(command({"retry", "999"}).exit_code, 0);
}

TEST_F(DeadLettersVerb, RetryOfADocumentThatIsGoneForgetsIt) {
  follow();
  refuse("1");
  kill();
  execute(
      "alter table blog.posts disable trigger user; delete from blog.posts where id = 1; "
      "alter table blog.posts enable trigger user");
  EXPECT_EQ(command({"retry", "--all"}).exit_code, 0);
  EXPECT_EQ(dead_letters(), 0);
  EXPECT_TRUE(is_equal());
}

TEST_F(DeadLettersVerb, RetryFindsDocumentsUnderTheirRouting) {
  execute(
      "create table blog.items (key text primary key, tenant text, payload jsonb); "
      "insert into blog.items select 'k/' || i, 'tenant ' || i % 3, '{\"note\": \"p\"}' from "
      "generate_series(1, 9) i; "
      "create view search.items as select key as _id, tenant as _routing, payload from blog.items");
  ElasticsearchIndex& items =
      pipeline_.add_index("items", "search.items", track("blog.items"),
                          strict_mapping(R"("payload": {"properties": {"n": {"type": "long"}}})"));
  pipeline_.apply();
  EXPECT_EQ(pipeline_.lockstep("run", {"--until-caught-up"}).exit_code, 1) << "it filled nothing";
  EXPECT_EQ(dead_letters(), 9);
  const std::vector<std::string> lines = split(pipeline_.must("dead-letters", {"list", "k/4"}), '\n');
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(split(lines[0], '\t').at(3), "\"tenant 1\"");
  pipeline_.set_mapping("items",
                        strict_mapping(R"("payload": {"properties": {"note": {"type": "keyword"}}})"));
  pipeline_.apply();
  execute("update blog.items set tenant = 'moved' where key = 'k/4'");
  EXPECT_EQ(command({"retry", "--index", items.alias()}).exit_code, 0);
  EXPECT_EQ(dead_letters(), 0);
  EXPECT_TRUE(is_equal());
}

TEST_F(DeadLettersVerb, ADeadLetterThatChangesWhileItIsTriedAgainEndsAsItIsNow) {
  follow();
  for (const char* id : {"1", "2", "3", "4"}) refuse(id);
  mend();
  Program retrying(lockstep_program(),
                   {"dead-letters", "-c", pipeline_.configuration().string(), "retry", "--all"});
  for (int i = 0; retrying.running(); ++i)
    execute("update blog.posts set " + note("note " + std::to_string(i)) + " where id <= 4");
  EXPECT_EQ(retrying.wait(kPatience), 0) << retrying.err();
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(DeadLettersVerb, DiscardForgetsWhatIsMeantAfterItWasConfirmed) {
  follow();
  refuse("1");
  refuse("2");
  EXPECT_EQ(command({"discard", "1"}).exit_code, 2) << "nobody can be asked";
  EXPECT_EQ(command({"discard", "--yes"}).exit_code, 2) << "all of them only when it is said";
  EXPECT_EQ(dead_letters(), 2);
  const Completed discarded = command({"discard", "1", "--yes"});
  EXPECT_EQ(discarded.exit_code, 0);
  EXPECT_NE(discarded.err.find("differs from its view"), std::string::npos) << discarded.err;
  EXPECT_EQ(listed(), "\"2\" ");
  EXPECT_EQ(pipeline_.status().at("indices").at(posts_.alias()).at("dead_letters"), 1);
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 3);
  mend();
  EXPECT_EQ(pipeline_.lockstep("verify", {"--repair"}).exit_code, 3);
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(dead_letters(), 0);
}

/// A backlog of documents of which none is taken.
class TooManyRefused : public DeadLettersVerb {
 protected:
  TooManyRefused() { pipeline_.set_more("bulk_bytes = \"64KiB\"\n[replication]\nchunk_documents = 100"); }

  void expect_error(const std::string& text) {
    for (const std::string& part : {posts_.alias(), std::string("max_refused_share"),
                                    std::string("strict_dynamic_mapping_exception"), std::string("note")}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
    }
  }

  static constexpr const char* kManyPosts =
      "insert into blog.posts (id, author_id, title, extra) select i, 1 + i % 5, 'post', '{\"note\": 1}' "
      "from generate_series(1001, 6000) i";
};

TEST_F(TooManyRefused, InABackfillTheyStopItLoudlyAndNothingIsLost) {
  execute(kManyPosts);
  pipeline_.apply();
  const Completed first = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_EQ(first.exit_code, 1) << first.err;
  expect_error(first.err);
  const nlohmann::json status = pipeline_.status();
  EXPECT_EQ(status.at("state"), "not_running");
  expect_error(status.at("reason"));
  const std::int64_t letters = dead_letters();
  EXPECT_LT(letters, 1'000);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pipeline_.lockstep("run", {"--until-caught-up"}).exit_code, 1);
    EXPECT_EQ(dead_letters(), letters) << "starting it again adds dead letters";
  }
  mend();
  pipeline_.catch_up();
  EXPECT_EQ(command({"retry", "--all"}).exit_code, 0);
  EXPECT_TRUE(is_equal());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(TooManyRefused, WhileItFollowsTheyEndTheServiceAndTheOthersAreThere) {
  follow();
  execute("insert into blog.posts (id, author_id, title) values (100, 1, 'before')");
  EXPECT_TRUE(appears("100"));
  execute(kManyPosts);
  EXPECT_EQ(program_->wait(kPatience), 2) << program_->err();
  expect_error(program_->err());
  EXPECT_LT(dead_letters(), 1'000);
  execute("insert into blog.posts (id, author_id, title) values (101, 1, 'after')");
  mend();
  restart();
  EXPECT_TRUE(appears("101"));
  EXPECT_EQ(command({"retry", "--all"}).exit_code, 0);
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(TooManyRefused, AShareOfOnePutsThemAllAside) {
  pipeline_.set_more("[replication]\nmax_refused_share = 1.0");
  execute(kManyPosts);
  pipeline_.apply();
  EXPECT_EQ(pipeline_.lockstep("run", {"--until-caught-up"}).exit_code, 1) << "it has filled next to nothing";
  EXPECT_EQ(dead_letters(), 5'000);
  EXPECT_EQ(pipeline_.status().at("indices").at(posts_.alias()).at("dead_letters"), 5'000);
  pipeline_.set_more("");
  EXPECT_EQ(split(command({"retry", "--all"}).out, '\n').size(), 5'000U);
  execute("update blog.posts set title = 'goes on' where id = 1");
  pipeline_.catch_up();
  EXPECT_NE(document("1").find("goes on"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::support
