// `lockstep adopt`: an index that something else has filled is taken over. What is right in it stays, what is
// not is written, and searches find it all the while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AdoptVerb : public BlogTest {
 protected:
  AdoptVerb() { pipeline_.set_mapping("posts", kMapping); }

  static constexpr const char* kMapping =
      R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"dynamic": false}})";

  std::string legacy() const { return posts_.alias() + "-legacy"; }

  /// An index that has every document of the view, each in its first version.
  void fill(const std::string& index, const std::string& body = kMapping) {
    posts_.server().expect("PUT", "/" + index, body);
    const auto connection = database_.connect();
    pqxx::nontransaction direct(*connection);
    std::string documents;
    for (const pqxx::row& row : direct.exec(
             "select _id, (select row_to_json(f) from (select p.title, p.body, p.author, p.comments) as f) "
             "from search.posts as p order by _id")) {
      documents +=
          R"({"index":{"_id":")" + row[0].as<std::string>() + "\"}}\n" + row[1].as<std::string>() + "\n";
    }
    const auto reply = posts_.server().expect("POST", "/" + index + "/_bulk?refresh=true", documents);
    ASSERT_FALSE(reply.at("errors").get<bool>()) << reply;
  }
  void let_alias_stand_for(const std::string& index) {
    posts_.server().expect("PUT", "/" + index + "/_alias/" + posts_.alias());
  }
  std::int64_t version(const std::string& id) const {
    return posts_.server().expect("GET", "/" + posts_.alias() + "/_doc/" + id).at("_version");
  }
  std::string stands_for() const {
    const auto reply = posts_.server().request("GET", "/_alias/" + posts_.alias());
    if (reply.status == 404) return "";
    const nlohmann::json found = reply.json();
    std::string names;
    for (const auto& [name, index] : found.items()) names += (names.empty() ? "" : ", ") + name;
    return names;
  }
  std::string mapping() const {
    return posts_.server().expect("GET", "/" + posts_.alias() + "/_mapping").dump();
  }
  Completed adopt(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), posts_.alias());
    return pipeline_.lockstep("adopt", options);
  }
  void expect_equal_after_a_run() {
    pipeline_.catch_up();
    const Completed verified = pipeline_.lockstep("verify");
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }
};

TEST_F(AdoptVerb, OnlyWhatDiffersIsWrittenAndLaterChangesWin) {
  fill(legacy());
  posts_.server().expect("PUT", "/" + legacy() + "/_doc/3", R"({"title": "old"})");
  posts_.server().expect("DELETE", "/" + legacy() + "/_doc/5");
  const auto as_it_was = posts_.server().expect("GET", "/" + legacy() + "/_doc/7").at("_source");
  posts_.server().expect("PUT", "/" + legacy() + "/_doc/7?version=1700000000000&version_type=external",
                         as_it_was.dump());  // milliseconds, as a pipeline of Logstash may give
  let_alias_stand_for(legacy());
  const Completed refused = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("`lockstep adopt " + posts_.alias() + "`"));

  const Completed dry = adopt({"--dry-run", "--list"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("19 documents in index " + legacy() + ", 20 in the view"));
  EXPECT_THAT(dry.out, HasSubstr("18 equal"));
  EXPECT_THAT(dry.out, HasSubstr("1 different: \"3\"\n"));
  EXPECT_THAT(dry.out, HasSubstr("1 missing: \"5\"\n"));
  EXPECT_THAT(dry.out, HasSubstr(posts_.alias() + "\tdifferent\t\"3\"\n"));
  EXPECT_THAT(mapping(), Not(HasSubstr("_meta")));
  EXPECT_EQ(database_.number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);

  const Completed adopted = adopt();
  ASSERT_EQ(adopted.exit_code, 0) << adopted.out << adopted.err;
  EXPECT_THAT(adopted.out, HasSubstr("beginning with a comparison"));
  EXPECT_EQ(stands_for(), legacy());
  pipeline_.catch_up();
  EXPECT_EQ(version("1"), 1) << "it was right, and nobody has written it";
  EXPECT_EQ(version("7"), 1'700'000'000'000);
  EXPECT_EQ(adopt().out, "nothing to do: " + legacy() + " is lockstep's already\n");
  execute("update blog.posts set title = 'changed' where id in (1, 7)");
  expect_equal_after_a_run();
  EXPECT_THAT(document("1"), HasSubstr("changed"));
}

TEST_F(AdoptVerb, DocumentsThatTheViewDoesNotHaveGoOnlyWhenAsked) {
  fill(legacy());
  posts_.server().expect("PUT", "/" + legacy() + "/_doc/99?refresh=true", R"({"title": "of a lost row"})");
  let_alias_stand_for(legacy());
  const Completed refused = adopt({"--list"});
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("surplus\t\"99\"\n"));
  EXPECT_THAT(refused.err, HasSubstr("--delete-surplus"));
  EXPECT_THAT(mapping(), Not(HasSubstr("_meta")));
  const Completed unasked = adopt({"--delete-surplus"});
  EXPECT_EQ(unasked.exit_code, 2) << "it deletes, and there is no terminal to ask on";
  EXPECT_THAT(unasked.err, HasSubstr("give --yes"));
  EXPECT_THAT(mapping(), Not(HasSubstr("_meta")));
  EXPECT_EQ(adopt({"--delete-surplus", "--yes"}).exit_code, 0);
  EXPECT_EQ(posts_.count(), 21) << "the service deletes it";
  expect_equal_after_a_run();
  EXPECT_EQ(posts_.count(), 20);
  EXPECT_EQ(version("1"), 1);
}

TEST_F(AdoptVerb, AnIndexOfTheAliasesNameGetsAnotherOne) {
  fill(posts_.alias());
  const std::string other = posts_.alias() + "-of-author-1";
  posts_.server().expect("PUT", "/" + posts_.alias() + "/_alias/" + other,
                         R"({"filter": {"match": {"author": "author 1"}}})");
  const Completed adopted = adopt();
  ASSERT_EQ(adopted.exit_code, 0) << adopted.out << adopted.err;
  EXPECT_EQ(stands_for(), posts_.alias() + "-000001");
  EXPECT_THAT(posts_.concrete(), ElementsAre(posts_.alias() + "-000001"));
  const auto index =
      posts_.server().expect("GET", "/" + stands_for() + "?flat_settings=true").at(stands_for());
  EXPECT_TRUE(index.at("aliases").at(other).contains("filter")) << index;
  EXPECT_FALSE(index.at("settings").contains("index.hidden")) << index;
  expect_equal_after_a_run();
  EXPECT_EQ(version("1"), 1);
  execute("update blog.posts set title = 'changed' where id = 1");
  expect_equal_after_a_run();
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
}

// A clone had one replica, whatever the index had.
TEST_F(AdoptVerb, AnIndexThatIsClonedKeepsItsSettings) {
  fill(posts_.alias(),
       R"({"settings": {"number_of_shards": 1, "number_of_replicas": 3, "refresh_interval": "7s",
      "max_result_window": 5000, "codec": "best_compression"}, "mappings": {"dynamic": false}})");
  const auto settings = [&] {
    const auto found = posts_.server().expect("GET", "/" + posts_.alias() + "/_settings?flat_settings=true");
    return found.begin().value().at("settings");
  };
  const nlohmann::json before = settings();
  ASSERT_EQ(adopt().exit_code, 0);
  const nlohmann::json after = settings();
  for (const auto& [name, value] : before.items()) {
    const bool is_of_creation = name == "index.uuid" || name == "index.provided_name" ||
                                name == "index.creation_date" || name.starts_with("index.version.");
    if (!is_of_creation) EXPECT_EQ(after.value(name, nlohmann::json()), value) << name;
  }
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr("number_of_replicas is 3, wanted 0"));
}

TEST_F(AdoptVerb, CutOffAtAnyRequestTheNextOneGoesOn) {
  fill(posts_.alias());
  struct Point {
    const char* method;
    const char* part;  // of path or body
    bool arrives;
  };
  const std::vector<Point> points = {
      {"PUT", "uncompared", false},      {"PUT", "blocks.write", true},  {"POST", "/_clone/", true},
      {"POST", "remove_index", false},   {"POST", "remove_index", true}, {"PUT", "index.hidden", false},
      {"PUT", "mapping_checksum", true},
  };
  for (const Point& point : points) {
    std::atomic<bool> reached{false};
    proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
      const bool is_it = request.method() == point.method &&
                         (request.target() + request.body).find(point.part) != std::string::npos;
      if (!is_it) return std::nullopt;
      reached = true;  // a lost connection is tried again once
      Disturbance cut;
      (point.arrives ? cut.lose_reply : cut.lose_request) = true;
      return cut;
    });
    const Completed cut = adopt();
    EXPECT_TRUE(reached) << point.part << '\n' << cut.out << cut.err;
    EXPECT_EQ(cut.exit_code, 1) << point.part << '\n' << cut.err;
    proxy_.disturb({});
    const std::string now = stands_for();
    if (now.empty()) {
      posts_.damage("2", R"({"title": "of the old writer"})");
    } else {
      const Completed applied = pipeline_.lockstep("apply", {"--yes"});
      EXPECT_EQ(applied.exit_code, 1) << "half adopted at " << point.part << '\n' << applied.out << cut.err;
    }
    EXPECT_GE(posts_.count(), 20) << "searches find it at every moment";
  }
  const Completed last = adopt();
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_THAT(posts_.concrete(), ElementsAre(posts_.alias() + "-000001"));
  expect_equal_after_a_run();
}

TEST_F(AdoptVerb, TwoAtOnceAdoptItOnce) {
  fill(posts_.alias());
  const std::vector<std::string> arguments = {"adopt", posts_.alias(), "-c",
                                              pipeline_.configuration().string()};
  Program one(lockstep_program(), arguments);
  Program two(lockstep_program(), arguments);
  one.wait(kPatience);
  two.wait(kPatience);
  const Completed last = adopt();
  ASSERT_EQ(last.exit_code, 0) << one.err() << two.err() << last.err;
  EXPECT_EQ(stands_for().substr(0, posts_.alias().size() + 6), posts_.alias() + "-00000");
  expect_equal_after_a_run();
}

// By the name, an alias by then, the second one cloned the clone, and nobody named what stayed.
TEST_F(AdoptVerb, OneThatClonesWhenAnotherIsDoneLeavesNoSecondClone) {
  fill(posts_.alias());
  std::atomic<bool> reached{false};
  std::optional<Completed> other;
  proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (request.target().find("/_clone/") == std::string::npos || reached.exchange(true)) return std::nullopt;
    other = adopt();
    return std::nullopt;
  });
  const Completed late = adopt();
  ASSERT_TRUE(other);
  EXPECT_EQ(other->exit_code, 0) << other->err;
  EXPECT_EQ(late.exit_code, 1) << late.out;
  EXPECT_THAT(late.err, HasSubstr("another command adopts it at the same time"));
  EXPECT_THAT(posts_.concrete(), ElementsAre(posts_.alias() + "-000001"));
  expect_equal_after_a_run();
  execute("update blog.posts set title = 'changed' where id = 1");
  expect_equal_after_a_run();
}

TEST_F(AdoptVerb, AReindexTakesThePlaceOfAnAdoptedIndexAndDeletesIt) {
  fill(legacy());
  let_alias_stand_for(legacy());
  ASSERT_EQ(adopt().exit_code, 0);
  follow();
  pipeline_.must("reindex", {posts_.alias(), "--keep", "1s"});
  EXPECT_TRUE(
      wait_until([&] { return posts_.concrete() == std::vector{posts_.alias() + "-000001"}; }, kPatience))
      << posts_.concrete().size();
  EXPECT_EQ(stands_for(), posts_.alias() + "-000001");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(AdoptVerb, ALostMarkIsPutBackByOneCommand) {
  bring_up();
  const std::string index = stands_for();
  const auto put_meta = [&](const nlohmann::json& meta) {
    posts_.server().expect("PUT", "/" + index + "/_mapping", nlohmann::json{{"_meta", meta}}.dump());
  };
  const nlohmann::json mark =
      posts_.server().expect("GET", "/" + index + "/_mapping").at(index).at("mappings").at("_meta");
  nlohmann::json broken = mark;
  broken.at("lockstep").at("epoch") = "many";
  int lost = 0;
  for (const nlohmann::json& meta : {nlohmann::json::object(), broken}) {
    put_meta(meta);
    posts_.damage(std::to_string(++lost), R"({"title": "of somebody else"})");
    execute("delete from blog.posts where id = " + std::to_string(20 - lost));
    EXPECT_THAT(pipeline_.lockstep("run", {"--until-caught-up"}).err,
                HasSubstr("`lockstep adopt " + posts_.alias() + "`"));
    const std::string before = mapping();
    EXPECT_EQ(adopt({"--dry-run"}).exit_code, 0);
    EXPECT_EQ(mapping(), before);
    const Completed adopted = adopt();
    ASSERT_EQ(adopted.exit_code, 0) << adopted.out << adopted.err;
    EXPECT_THAT(adopted.out, HasSubstr("1 different: \"" + std::to_string(lost) + "\"\n  1 surplus"));
    EXPECT_THAT(mapping(), HasSubstr("doubt"));
    expect_equal_after_a_run();
    EXPECT_THAT(mapping(), Not(HasSubstr("doubt")));
  }

  nlohmann::json anothers = mark;
  anothers.at("lockstep").at("identity") = "another";
  anothers.at("lockstep").erase("epoch");
  put_meta(anothers);
  const Completed refused = adopt();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("belongs to the pipeline"));
  EXPECT_THAT(mapping(), HasSubstr("another"));
}

// Reported: after `lockstep remove`, and after `drop schema lockstep cascade`, neither `apply` nor `adopt`
// took the indices over that were left.
TEST_F(AdoptVerb, TheIndicesOfALostSchemaAreTakenOverAgain) {
  bring_up();
  const std::string index = stands_for();
  for (const bool is_removed : {true, false}) {
    if (is_removed) {
      const Completed removed = pipeline_.lockstep("remove", {"--yes"});
      ASSERT_EQ(removed.exit_code, 0) << removed.err;
      EXPECT_THAT(removed.err, HasSubstr("`lockstep adopt " + posts_.alias() + "`"));
    } else {
      execute("drop schema lockstep cascade");
    }
    execute("update blog.posts set title = 'meanwhile' where id = 2");
    posts_.damage("3", R"({"title": "of somebody else"})");
    const Completed refused = pipeline_.lockstep("apply", {"--yes"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("or of an earlier installation in this one"));
    EXPECT_THAT(refused.err, HasSubstr("`lockstep adopt " + posts_.alias() + "`"));

    const std::string before = mapping();
    EXPECT_EQ(adopt({"--dry-run"}).exit_code, 0);
    const Completed unanswered = adopt();
    EXPECT_EQ(unanswered.exit_code, 2) << unanswered.err;
    EXPECT_THAT(unanswered.err, HasSubstr("--yes"));
    EXPECT_EQ(mapping(), before);

    const Completed adopted = adopt({"--yes"});
    ASSERT_EQ(adopted.exit_code, 0) << adopted.out << adopted.err;
    EXPECT_THAT(adopted.out, HasSubstr("must not follow it any more"));
    EXPECT_EQ(stands_for(), index);
    expect_equal_after_a_run();
    execute("update blog.posts set title = 'later' where id in (2, 4)");
    execute("delete from blog.posts where id = " + std::to_string(is_removed ? 5 : 6));
    expect_equal_after_a_run();
    EXPECT_THAT(mapping(), Not(HasSubstr("doubt")));
  }
}

TEST_F(AdoptVerb, ABlockThatOneOfTwoHasLeftOnTheCloneGoesWithTheNextOne) {
  fill(posts_.alias());
  ASSERT_EQ(adopt().exit_code, 0);
  const std::string clone = posts_.alias() + "-000001";
  posts_.server().expect("PUT", "/" + clone + "/_settings", R"({"index.blocks.write": true})");
  const Completed again = adopt();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(clone + " takes writes again"));
  execute("update blog.posts set title = 'changed' where id = 1");
  expect_equal_after_a_run();
}

TEST_F(AdoptVerb, AnAliasThatRefusesWritesGoesOnRefusingThemAfterAReindex) {
  fill(legacy());
  posts_.server().expect("PUT", "/" + legacy() + "/_alias/" + posts_.alias(), R"({"is_write_index": false})");
  ASSERT_EQ(adopt().exit_code, 0);
  follow();
  for (const std::vector<std::string>& direction : {std::vector<std::string>{posts_.alias()}, {"--back"}}) {
    pipeline_.must("reindex", direction);
    const auto options = posts_.server().expect("GET", "/_alias/" + posts_.alias()).at(stands_for());
    EXPECT_EQ(options.at("aliases").at(posts_.alias()).value("is_write_index", true), false) << options;
  }
  execute("update blog.posts set title = 'changed' where id = 1");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(AdoptVerb, WhatCannotBeComparedIsNamed) {
  fill(legacy(), R"({"mappings": {"_source": {"excludes": ["body"]}}})");
  let_alias_stand_for(legacy());
  const Completed refused = adopt();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("a _source that is not kept whole"));
  posts_.server().expect("DELETE", "/" + legacy());
  EXPECT_THAT(adopt().err, HasSubstr("there is no index " + posts_.alias()));

  posts_.server().expect("PUT", "/" + legacy(), kMapping);
  posts_.server().expect("POST", "/" + legacy() + "/_doc?refresh=true",
                         R"({"title": "under an id of its own"})");
  let_alias_stand_for(legacy());
  EXPECT_THAT(adopt({"--delete-surplus", "--yes"}).err, HasSubstr("they are made in another way"));
}

}  // namespace
}  // namespace lockstep::support
