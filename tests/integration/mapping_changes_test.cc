// A mapping that changes in place reaches every document: those that were written before are written again,
// and until then `verify` says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

class MappingChanges : public BlogTest {
 protected:
  MappingChanges() { pipeline_.set_mapping("posts", mapping_with(R"("title": {"type": "text"})")); }

  static std::string mapping_with(const std::string& fields) {
    return R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
               "mappings": {"dynamic": false, "properties": {)" +
           fields + "}}}";
  }
  static std::string title_with_raw() {
    return mapping_with(R"("title": {"type": "text", "fields": {"raw": {"type": "keyword"}}})");
  }
  std::int64_t with_field(const std::string& field) const {
    posts_.server().expect("POST", "/" + posts_.alias() + "/_refresh");
    return posts_.server()
        .expect("GET", "/" + posts_.alias() + "/_count",
                R"({"query": {"exists": {"field": ")" + field + R"("}}})")
        .at("count");
  }
  /// An `apply` that is killed after Elasticsearch has got the new mapping.
  void apply_and_die_in_between() {
    const auto connection = database_.connect();
    pqxx::work blocker(*connection);
    blocker.exec("lock table lockstep.job in share mode");
    Program apply(lockstep_program(), {"apply", "--yes", "-c", pipeline_.configuration().string()});
    const auto has_mark = [&] {
      const auto mapping = posts_.server().expect("GET", "/" + posts_.alias() + "/_mapping");
      return mapping.dump().find("unwritten") != std::string::npos;
    };
    EXPECT_TRUE(wait_until(has_mark, kPatience)) << apply.err();
    apply.kill();
  }
};

TEST_F(MappingChanges, ANewSubFieldIsFoundInEveryDocument) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1, 'post ' || i from generate_series(21, "
      "1000) i");
  bring_up();
  EXPECT_EQ(with_field("title.raw"), 0);
  pipeline_.set_mapping("posts", title_with_raw());
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("backfill of " + posts_.alias()));
  const std::string told = pipeline_.must("apply", {"--yes"});
  EXPECT_THAT(told, HasSubstr("field title.raw: new, keyword"));
  EXPECT_THAT(told, HasSubstr("backfill of " + posts_.alias()));

  const Completed early = pipeline_.lockstep("verify");
  EXPECT_EQ(early.exit_code, 3) << early.err;
  EXPECT_THAT(early.err, HasSubstr("not proven yet, a backfill writes every document again"));
  EXPECT_THAT(pipeline_.must("status"), HasSubstr("field title.raw"));
  restart();
  pipeline_.must("wait");
  EXPECT_EQ(with_field("title.raw"), 1'000);
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
}

TEST_F(MappingChanges, AProgramThatRunsWritesAgainForEachParameterOfAField) {
  follow();
  for (const char* const fields : {R"("title": {"type": "text", "copy_to": "all"}, "all": {"type": "text"})",
                                   R"("title": {"type": "text"}, "all": {"type": "text"})"}) {
    const bool copies = std::string(fields).find("copy_to") != std::string::npos;
    pipeline_.set_mapping("posts", mapping_with(fields));
    pipeline_.apply();
    pipeline_.must("wait");
    EXPECT_EQ(with_field("all"), copies ? 20 : 0) << fields;
  }
}

TEST_F(MappingChanges, WhatNoDocumentHasAndWhatASearchLooksUpIsNotWrittenAgain) {
  bring_up();
  pipeline_.set_mapping("posts", mapping_with(R"("price": {"type": "long"}, "title": {"type": "text",
      "search_analyzer": "whitespace"})"));
  EXPECT_THAT(pipeline_.must("plan"), testing::Not(HasSubstr("backfill")));
  pipeline_.apply();
  EXPECT_EQ(database_.number("select count(*) from lockstep.job"), 0);
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(MappingChanges, ThePlanSaysOfEachDifferenceWhatItNeedsAndTriesNothingOnTheIndex) {
  pipeline_.set_mapping("posts",
                        mapping_with(R"("title": {"type": "text", "norms": true}, "body": {"type": "keyword"},
      "author": {"type": "text"})"));
  bring_up();
  const auto mapping = [&] { return posts_.server().expect("GET", "/" + posts_.alias() + "/_mapping"); };
  const nlohmann::json before = mapping();
  pipeline_.set_mapping(
      "posts", R"({"settings": {"refresh_interval": "7s", "codec": "best_compression", "number_of_shards": 2},
      "mappings": {"dynamic": false, "properties": {"title": {"type": "text", "norms": false},
        "body": {"type": "keyword", "ignore_above": 100}, "author": {"type": "text", "index_options": "docs"},
        "comments": {"type": "text"}}}})");
  const Completed planned = pipeline_.lockstep("plan", {"--json"});
  EXPECT_EQ(planned.exit_code, 1) << planned.err;
  std::map<std::string, std::string> ways;
  const nlohmann::json plan = nlohmann::json::parse(planned.out);
  for (const nlohmann::json& difference : plan.at("indices").at(0).at("differences")) {
    const std::string parameter = difference.at("parameter").is_null() ? "" : difference.at("parameter");
    ways[difference.at("place").get<std::string>() + " " + parameter] =
        difference.at("way").get<std::string>() + (difference.at("writes_every_document") ? "!" : "");
  }
  EXPECT_EQ(ways, (std::map<std::string, std::string>{{"field title norms", "in_place!"},
                                                      {"field body ignore_above", "in_place!"},
                                                      {"field author index_options", "new_index"},
                                                      {"field comments ", "in_place!"},
                                                      {"setting index.refresh_interval ", "in_place"},
                                                      {"setting index.codec ", "closed_index"},
                                                      {"setting index.number_of_shards ", "new_index"}}));
  EXPECT_EQ(plan.at("indices").at(0).at("plan"), "reindex");
  EXPECT_EQ(mapping(), before);
  EXPECT_EQ(posts_.concrete().size(), 1U) << "what was tried on an empty index is gone";
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr("wanted docs: needs `lockstep reindex"));
}

// `plan` compared only when the mapping file had changed.
TEST_F(MappingChanges, WhatWasChangedInTheIndexByHandIsNamedAndPutRight) {
  const auto text =
      R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "200ms"},
      "mappings": {"dynamic": false, "properties": {"title": {"type": "keyword", "norms": false}, "body": {"type": "text"},
        "author": {"type": "object", "properties": {"name": {"type": "text", "index": true}}}}}})";
  pipeline_.set_mapping("posts", text);
  pipeline_.apply();
  const auto nothing_to_do = [&] { return pipeline_.must("plan", {"--exit-code"}); };
  EXPECT_EQ(nothing_to_do(), "nothing to do\n") << "a default is no difference";
  const std::string index = "/" + posts_.alias() + "-000001";
  posts_.server().expect("PUT", index + "/_settings",
                         R"({"refresh_interval": "99s", "number_of_replicas": 2})");
  posts_.server().expect(
      "PUT", index + "/_mapping",
      R"({"properties": {"title": {"type": "keyword", "norms": false, "ignore_above": 3}}})");
  const std::string planned = pipeline_.lockstep("plan").out;
  EXPECT_THAT(planned, HasSubstr("setting index.refresh_interval is 99s, wanted 200ms"));
  EXPECT_THAT(planned, HasSubstr("setting index.number_of_replicas is 2, wanted 0"));
  EXPECT_THAT(planned, HasSubstr("field title: ignore_above is 3, wanted unset"));
  pipeline_.apply();
  EXPECT_EQ(nothing_to_do(), "nothing to do\n");
  posts_.server().expect("PUT", index + "/_settings", R"({"refresh_interval": null, "hidden": true})");
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr("index.hidden is true, wanted unset"));
  pipeline_.apply();
  EXPECT_EQ(nothing_to_do(), "nothing to do\n");
}

// A reindex that was ended at the wrong moment left the searched index so.
TEST_F(MappingChanges, RefreshesThatAreOffInASearchedIndexAreTurnedOn) {
  pipeline_.apply();
  const std::string settings = "/" + posts_.alias() + "/_settings?flat_settings=true";
  posts_.server().expect("PUT", settings, R"({"refresh_interval": "-1"})");
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr("index.refresh_interval is -1, wanted unset"));
  pipeline_.apply();
  EXPECT_THAT(posts_.server().expect("GET", settings).dump(), testing::Not(HasSubstr("refresh_interval")));
}

TEST_F(MappingChanges, AnApplyThatDiesBehindTheMappingIsNoticedAndFinishedByTheNext) {
  bring_up();
  pipeline_.set_mapping("posts", title_with_raw());
  apply_and_die_in_between();
  EXPECT_EQ(database_.number("select count(*) from lockstep.job"), 0);
  const Completed verified = pipeline_.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 3);
  EXPECT_THAT(verified.err, HasSubstr("are to be written again for field title.raw: run `lockstep apply`"));
  restart();  // a leader marks the index, and leaves this in the mark
  execute("update blog.posts set seen = 1");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("backfill of " + posts_.alias()));
  pipeline_.apply();
  pipeline_.must("wait");
  EXPECT_EQ(with_field("title.raw"), 20);
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(MappingChanges, ADocumentThatTheNewMappingRefusesIsNotCalledEqual) {
  bring_up();
  execute("update blog.posts set title = repeat('x', 40000) where id = 7");
  pipeline_.catch_up();
  pipeline_.set_mapping("posts", title_with_raw());
  pipeline_.apply();
  pipeline_.catch_up();
  const Completed verified = pipeline_.lockstep("verify");
  EXPECT_EQ(verified.exit_code, 3);
  EXPECT_THAT(verified.out, HasSubstr("\tdifferent\t\"7\"\trefused: "));
  EXPECT_THAT(verified.err, HasSubstr("1 different"));
  execute("update blog.posts set title = 'short' where id = 7");
  pipeline_.catch_up();
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

}  // namespace
}  // namespace lockstep::support
