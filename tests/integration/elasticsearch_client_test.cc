// The administrative client against a real engine: the ground of `check`, `plan` and `apply`.
#include <gmock/gmock.h>

#include <chrono>

#include "replicator/elasticsearch/admin/generations.h"
#include "tests/integration/elasticsearch_fixture.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = IndexPlan::Kind;

constexpr const char* kMapping = R"({
  "settings": {"number_of_shards": 2, "number_of_replicas": 0,
               "analysis": {"analyzer": {"shout": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "stop"]}}}},
  "mappings": {
    "dynamic": false,
    "_meta": {"team": "search"},
    "dynamic_templates": [{"ids": {"match": "*_id", "mapping": {"type": "keyword"}}}],
    "properties": {
      "title": {"type": "text", "analyzer": "shout", "index": true, "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
      "user": {"type": "object", "properties": {"id": {"type": "long"}, "name": {"type": "text", "norms": true}}},
      "tags": {"type": "nested", "properties": {"n": {"type": "integer", "doc_values": true}}}
    }
  }
})";

// What Elasticsearch waits for the shards of a new index, unless it is told otherwise.
constexpr std::chrono::seconds kWaitForShards{30};

class ElasticsearchClientContract : public ElasticsearchContract {};

TEST_F(ElasticsearchClientContract, SaysWhichEngineItIs) {
  const EngineInfo info = client().info();
  EXPECT_TRUE(info.supported()) << info.text();
  EXPECT_FALSE(info.cluster_uuid.empty());
  EXPECT_FALSE(info.cluster_name.empty());
}

TEST_F(ElasticsearchClientContract, CreatesAnIndexBehindAnAliasAndIsThenDone) {
  EXPECT_TRUE(client().indices_of(alias()).empty());
  const IndexPlan first = apply(desired(kMapping));
  EXPECT_EQ(first.kind, Kind::kCreate);

  const std::vector<IndexState> found = client().indices_of(alias());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, alias() + "-000001");
  EXPECT_EQ(found[0].aliases, std::vector<std::string>{alias()});
  EXPECT_FALSE(found[0].uuid.empty());
  EXPECT_EQ(found[0].mappings.at("_meta").at("team"), "search");
  const IndexMark mark = marked_index(client(), alias()).mark;
  EXPECT_EQ(mark.pipeline, "contract");
  EXPECT_EQ(mark.identity, "identity-1");
  EXPECT_EQ(mark.alias, alias());
  EXPECT_EQ(mark.view, "search.things");

  const IndexPlan second = plan_index(client(), desired(kMapping));
  EXPECT_EQ(second.kind, Kind::kNothing);
  EXPECT_TRUE(second.changes.empty());
}

TEST_F(ElasticsearchClientContract, WhatTheEngineMakesOfAMappingIsNoDifference) {
  apply(desired(kMapping));
  // Another checksum, so that the mapping is compared field by field.
  std::string same = kMapping;
  same.replace(same.find("\"search\""), 8, "\"seek\"");
  const IndexPlan plan = plan_index(client(), desired(same));
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  EXPECT_THAT(plan.changes, ElementsAre("note that the mapping file has changed"));
}

TEST_F(ElasticsearchClientContract, AddsFieldsAndSettingsInPlace) {
  apply(desired(R"({"mappings":{"properties":{"a":{"type":"text"}}}})"));
  const SourceMark source{"database 1", "2", 7'000};
  set_index_writer(client(), alias(), {}, desired(kMapping).identity, Epoch{7}, source);
  const DesiredIndex longer = desired(
      R"({"settings":{"refresh_interval":"7s"},"mappings":{"properties":{"a":{"type":"text","fields":{"raw":{"type":"keyword"}}},"b":{"properties":{"c":{"type":"date"}}}}}})");
  const IndexPlan plan = apply(longer);
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  EXPECT_THAT(plan.changes, ElementsAre("field a.raw: new, keyword", "field b: new, object",
                                        "setting index.refresh_interval is not set, wanted 7s"));
  EXPECT_EQ(plan.unwritten, "field a.raw, field b");
  EXPECT_EQ(plan_index(client(), longer).unwritten, plan.unwritten)
      << "until somebody writes every document again";
  forget_unwritten(client(), longer, plan.index);
  EXPECT_EQ(plan_index(client(), longer).kind, Kind::kNothing);
  const IndexState state = client().indices_of(alias()).at(0);
  EXPECT_EQ(state.mappings.at("/properties/b/properties/c/type"_json_pointer), "date");
  EXPECT_EQ(state.settings.at("index.refresh_interval"), "7s");
  const IndexMark mark = marked_index(client(), alias()).mark;
  EXPECT_EQ(mark.epoch, Epoch{7}) << "an apply does not take the epoch back";
  EXPECT_EQ(mark.source, source);
}

TEST_F(ElasticsearchClientContract, SaysWhatNeedsAReindex) {
  apply(desired(R"({"settings":{"number_of_shards":1},"mappings":{"properties":{"a":{"type":"text"}}}})"));
  const IndexPlan type =
      plan_index(client(), desired(R"({"mappings":{"properties":{"a":{"type":"long"}}}})"));
  EXPECT_EQ(type.kind, Kind::kReindex);
  EXPECT_EQ(type.problem, "field a: type is text, wanted long");
  const IndexPlan shards = plan_index(client(), desired(R"({"settings":{"number_of_shards":3}})"));
  EXPECT_EQ(shards.kind, Kind::kReindex);

  const DesiredIndex analyzer =
      desired(R"({"mappings":{"properties":{"a":{"type":"text","analyzer":"keyword"}}}})");
  const IndexPlan plan = plan_index(client(), analyzer);
  EXPECT_EQ(plan.kind, Kind::kReindex) << "Elasticsearch was asked, on an empty index";
  EXPECT_EQ(plan.problem, "field a: analyzer is not set, wanted keyword");
  try {
    apply_index_plan(client(), analyzer, plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("run `lockstep reindex " + alias() + "`"));
  }
}

TEST_F(ElasticsearchClientContract, RefusesWhatBelongsToSomebodyElse) {
  const DesiredIndex mine = desired("{}");
  server().expect("PUT", "/" + alias());
  IndexPlan plan = plan_index(client(), mine);
  EXPECT_EQ(plan.kind, Kind::kRefuse);
  EXPECT_THAT(plan.problem, HasSubstr("is an index, not an alias"));
  server().expect("DELETE", "/" + alias());

  server().expect("PUT", "/" + alias() + "-a", R"({"aliases":{")" + alias() + R"(":{}}})");
  plan = plan_index(client(), mine);
  EXPECT_EQ(plan.kind, Kind::kRefuse);
  EXPECT_THAT(plan.problem, HasSubstr("lockstep has not made"));

  server().expect("PUT", "/" + alias() + "-b", R"({"aliases":{")" + alias() + R"(":{}}})");
  plan = plan_index(client(), mine);
  EXPECT_EQ(plan.kind, Kind::kRefuse);
  EXPECT_THAT(plan.problem, HasSubstr("several indices"));
  server().expect("DELETE", "/" + alias() + "-a");
  server().expect("DELETE", "/" + alias() + "-b");

  apply(mine);
  DesiredIndex other = mine;
  other.pipeline = "crm";
  EXPECT_THAT(plan_index(client(), other).problem, HasSubstr("pipeline \"contract\""));
  other = mine;
  other.identity = "identity-2";
  EXPECT_THAT(plan_index(client(), other).problem, HasSubstr("of another source"));
}

TEST_F(ElasticsearchClientContract, FindsWhatTheEngineRefusesAndLeavesNothingBehind) {
  const json before = visible();
  EXPECT_EQ(validate_mapping(client(), alias(), parse_mapping("m", kMapping)), std::nullopt);
  for (const char* wrong : {R"({"mappings":{"properties":{"a":{"type":"nope"}}}})",
                            R"({"mappings":{"properties":{"a":{"type":"keyword","nope":1}}}})",
                            R"({"mappings":{"properties":{"a":{"type":"text","analyzer":"nope"}}}})",
                            R"({"mappings":{"propertiez":{}}})", R"({"settings":{"number_of_shardz":1}})",
                            R"({"settings":{"number_of_shards":0}})",
                            R"({"settings":{"analysis":{"analyzer":{"a":{"tokenizer":"nope"}}}}})"}) {
    const std::optional<std::string> problem = validate_mapping(client(), alias(), parse_mapping("m", wrong));
    ASSERT_TRUE(problem) << wrong;
    EXPECT_THAT(*problem, HasSubstr("HTTP 400")) << wrong;
  }
  EXPECT_THROW(plan_index(client(), desired(R"({"mappings":{"properties":{"a":{"type":"nope"}}}})")), Error);
  EXPECT_EQ(visible(), before);
}

TEST_F(ElasticsearchClientContract, KeepsTheEpochBesideWhatTheUserHasInMeta) {
  apply(desired(kMapping));
  EXPECT_EQ(marked_index(client(), alias()).mark.epoch, Epoch{0});
  const json before = client().indices_of(alias()).at(0).mappings;
  set_index_writer(client(), alias(), {}, desired(kMapping).identity, Epoch{DocumentVersion::kMaxEpoch / 2},
                   {});
  EXPECT_EQ(marked_index(client(), alias()).mark.epoch, Epoch{DocumentVersion::kMaxEpoch / 2});
  json after = client().indices_of(alias()).at(0).mappings;
  after.at("_meta").at("lockstep")["epoch"] = 0;
  EXPECT_EQ(after, before);
  EXPECT_EQ(plan_index(client(), desired(kMapping)).kind, Kind::kNothing) << "an epoch is no difference";
}

// A page of a reindex that was aborted landed in the index of the next one, which has the same name.
TEST_F(ElasticsearchClientContract, AGenerationOfTheSameNameIsWrittenByAnotherAlias) {
  const DesiredIndex index = desired("{}");
  apply(index);
  const TwoGenerations aborted = create_beside(client(), index, Epoch{3}, 17);
  drop_generation(client(), {alias(), "identity-1", aborted.beside, 17});
  const TwoGenerations next = create_beside(client(), index, Epoch{3}, 18);
  EXPECT_EQ(next.beside, aborted.beside);
  EXPECT_NE(next.beside_alias, aborted.beside_alias);
  EXPECT_TRUE(client().indices_of(aborted.beside_alias).empty());
  EXPECT_EQ(client().indices_of(next.beside_alias).at(0).name, next.beside);
}

TEST_F(ElasticsearchClientContract, MakesAGenerationMovesTheAliasAndDropsTheOther) {
  const DesiredIndex index = desired("{}");
  apply(index);
  const std::string old = alias() + "-000001";
  const std::string next = alias() + "-000002";
  for (int i = 0; i < 2; ++i) {  // as after a lost answer
    const TwoGenerations both = create_beside(client(), index, Epoch{3}, 17);
    EXPECT_EQ(both.live, old);
    EXPECT_EQ(both.beside, next);
  }
  EXPECT_EQ(client().indices_of(writing_alias(old)).at(0).name, old);
  EXPECT_EQ(client().indices_of(writing_alias(next, 17)).at(0).name, next);
  EXPECT_EQ(client().indices_of(alias()).at(0).name, old);
  finish_filling(client(), next, index.mapping);
  require_as_healthy(client(), next, old);
  for (int i = 0; i < 2; ++i) move_alias(client(), alias(), old, next, TakeFrom::kExpected);
  EXPECT_EQ(client().indices_of(alias()).at(0).name, next);
  EXPECT_EQ(marked_index(client(), alias()).mark.epoch, Epoch{3});
  EXPECT_EQ(plan_index(client(), index).kind, Kind::kNothing);
  EXPECT_THROW(move_alias(client(), alias(), "somebody's", old, TakeFrom::kExpected), Error);
  EXPECT_THROW(drop_generation(client(), {alias(), "identity-1", next, 17}), Error) << "searchers see it";
  EXPECT_EQ(client().generations(alias()).size(), 2u);
  for (int i = 0; i < 2; ++i) drop_generation(client(), {alias(), "identity-1", old, 17});
  EXPECT_EQ(client().generations(alias()).size(), 1u);
  EXPECT_EQ(client().indices_of(alias()).at(0).aliases, std::vector{alias()});
  EXPECT_EQ(plan_index(client(), index).kind, Kind::kNothing);
  client().send_json("taking the alias away", "POST", "/_aliases",
                     R"({"actions":[{"remove":{"index":")" + next + R"(","alias":")" + alias() + R"("}}]})");
  EXPECT_THROW(drop_generation(client(), {alias(), "identity-1", next, 17, old}), Error)
      << "all that is left";
}

TEST_F(ElasticsearchClientContract, ATemplateThatPutsAGenerationUnderTheAliasIsRefused) {
  const DesiredIndex index = desired("{}");
  apply(index);
  const std::string path = "/_index_template/" + alias() + "-template";
  client().send("making a template", "PUT", path,
                json{{"index_patterns", {alias() + "-*"}},
                     {"priority", 1'000'000},
                     {"template", {{"aliases", {{alias(), json::object()}}}}}}
                    .dump());
  EXPECT_THROW(create_beside(client(), index, Epoch{3}, 17), Error);
  client().send("deleting the template", "DELETE", path);
  EXPECT_EQ(client().generations(alias()).size(), 1u);
  EXPECT_EQ(create_beside(client(), index, Epoch{3}, 17).beside, alias() + "-000002");
}

// The source went back to the time before the filling: what was filled has documents of commits that are
// lost.
TEST_F(ElasticsearchClientContract, AGenerationThatWasFilledBeforeTheSourceWentBackIsMadeAnew) {
  const DesiredIndex index = desired("{}");
  apply(index);
  const std::string filled = create_beside(client(), index, Epoch{3}, 17).beside;
  client().send("writing of a lost commit", "PUT", "/" + filled + "/_doc/1", "{}");
  EXPECT_THROW(create_beside(client(), index, Epoch{2}, 17), Error) << "a later leader may be filling it";
  EXPECT_EQ(client().generations(alias()).back().name, filled);
  EXPECT_EQ(create_beside(client(), index, Epoch{4}, 17).beside, alias() + "-000003");
  EXPECT_EQ(client().generations(alias()).size(), 2u);
}

// Likewise: it knows nothing of the reindex, and nobody would look at the index again.
TEST_F(ElasticsearchClientContract, AGenerationOfAReindexThatTheSourceHasLostIsDeleted) {
  const DesiredIndex index = desired("{}");
  apply(index);
  create_beside(client(), index, Epoch{3}, 17);
  EXPECT_EQ(create_beside(client(), index, Epoch{3}, 18).beside, alias() + "-000003");
  EXPECT_EQ(client().generations(alias()).size(), 2u);
  create_beside(client(), index, Epoch{2}, 19);
  EXPECT_EQ(client().generations(alias()).size(), 3u) << "it may be of a later leader";
  drop_forgotten(client(), alias(), "identity-1");
  ASSERT_EQ(client().generations(alias()).size(), 1u);
  EXPECT_EQ(client().indices_of(alias()).at(0).name, alias() + "-000001") << "searchers see it";
}

TEST_F(ElasticsearchClientContract, AGenerationWithoutRoomForItsShardsIsMadeWithoutAWait) {
  apply(desired("{}"));
  const DesiredIndex index =
      desired(R"({"settings": {"number_of_shards": 1, "index.routing.allocation.require._name": "nobody"}})");
  const auto begin = std::chrono::steady_clock::now();
  const std::string next = create_beside(client(), index, Epoch{3}, 17).beside;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kWaitForShards);
  EXPECT_THROW(require_as_healthy(client(), next, alias() + "-000001"), Error) << "searches would fail";
}

TEST_F(ElasticsearchClientContract, AMissingIndexIsAnErrorWithItsRemedy) {
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { client().count(alias()); }, [&] { client().refresh(alias()); },
           [&] { marked_index(client(), alias()); }, [&] { client().delete_index(alias()); }}) {
    try {
      call();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_FALSE(error.retryable());
      EXPECT_THAT(error.what(), HasSubstr("lockstep apply"));
    }
  }
}

}  // namespace
}  // namespace lockstep
