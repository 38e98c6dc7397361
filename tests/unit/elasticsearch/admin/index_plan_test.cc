#include "replicator/elasticsearch/admin/index_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/elasticsearch/scripted_transport.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = IndexPlan::Kind;

constexpr const char* kMapping =
    R"({"settings":{"number_of_replicas":0},"mappings":{"properties":{"a":{"type":"text"}}}})";
const HttpResponse kDone{200, R"({"acknowledged":true})"};
constexpr const char* kNoIndex = R"({"error":{"type":"index_not_found_exception","reason":"r"}})";

DesiredIndex desired(const std::string& mapping = kMapping) {
  return {"posts", "search.posts", parse_mapping("m.json", mapping), "shop", "uuid-1"};
}

json mark(const DesiredIndex& index) {
  return {{"pipeline", index.pipeline},
          {"identity", index.identity},
          {"alias", index.alias},
          {"view", index.view},
          {"epoch", 4},
          {"mapping_checksum", checksum(index.mapping)}};
}

/// The reply to GET /posts after `index` was applied.
HttpResponse existing(const DesiredIndex& index, const json& lockstep_mark,
                      const std::string& name = "posts-000003") {
  json mappings = index.mapping.mappings;
  mappings["_meta"] = {{"team", "x"}};
  if (!lockstep_mark.is_null()) mappings["_meta"]["lockstep"] = lockstep_mark;
  return {200, json{{name,
                     {{"aliases", {{"posts", json::object()}}},
                      {"mappings", mappings},
                      {"settings", {{"index.number_of_replicas", "0"}, {"index.uuid", "u"}}}}}}
                   .dump()};
}

HttpResponse simulated(const std::string& mapping) {
  return {200, json{{"template", {{"mappings", parse_mapping("m", mapping).mappings}}}}.dump()};
}

TEST(PlanIndex, CreatesTheFirstGeneration) {
  Script script{
      {{404, kNoIndex}, simulated(kMapping), {200, "{}"}, kDone, existing(desired(), mark(desired()))}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired());
  EXPECT_EQ(plan.kind, Kind::kCreate);
  EXPECT_EQ(plan.index, "posts-000001");
  EXPECT_THAT(plan.changes, ElementsAre("create index posts-000001 with alias posts"));

  apply_index_plan(client, desired(), plan);
  const RecordedRequest& created = script.requests.at(3);
  EXPECT_EQ(created.method, "PUT");
  EXPECT_EQ(created.path, "/posts-000001");
  const json body = json::parse(created.body);
  EXPECT_EQ(body.at("aliases"), json::parse(R"({"posts":{}})"));
  EXPECT_EQ(body.at("settings"), json::parse(R"({"number_of_replicas":0})"));
  EXPECT_EQ(body.at("mappings").at("_meta").at("lockstep").at("identity"), "uuid-1");
  EXPECT_EQ(body.at("mappings").at("_meta").at("lockstep").at("epoch"), 0);
}

TEST(PlanIndex, LeavesNoIndexThatATemplateHasMadeUnfit) {
  const HttpResponse made{200,
                          R"({"posts-000001": {"mappings": {}, "settings": {"index.gc_deletes": "1s"}}})"};
  Script script{{{404, kNoIndex}, simulated(kMapping), {200, "{}"}, kDone, made, kDone}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(apply_index_plan(client, desired(), plan_index(client, desired())), Error);
  EXPECT_EQ(script.requests.back().method, "DELETE");
  EXPECT_EQ(script.requests.back().path, "/posts-000001");
}

TEST(PlanIndex, AnIndexWhoseMappingIsDisabledAtItsRootIsRefusedSinceSearchesFindNothing) {
  const auto expect_refused = [](const std::optional<IndexPlan>& plan) {
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->kind, Kind::kRefuse);
    EXPECT_THAT(plan->problem, HasSubstr("\"enabled\": false at the root of its mapping"));
  };
  expect_refused(refusal_of_mapping(desired(R"({"mappings": {"enabled": false}})")));
  expect_refused(refusal_of_mapping(desired(
      R"({"mappings": {"enabled": "false", "dynamic": "strict", "properties": {"a": {"type": "text"}}}})")));
  EXPECT_FALSE(refusal_of_mapping(desired(R"({"mappings": {"enabled": true}})")));
  EXPECT_FALSE(refusal_of_mapping(
      desired(R"({"mappings": {"properties": {"a": {"type": "object", "enabled": false}}}})")));

  // By an index template.
  const HttpResponse made{200, R"({"posts-000001": {"mappings": {"enabled": false}, "settings": {}}})"};
  Script script{{{404, kNoIndex}, simulated(kMapping), {200, "{}"}, kDone, made, kDone}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(apply_index_plan(client, desired(), plan_index(client, desired())), Error);
  EXPECT_EQ(script.requests.back().method, "DELETE");
}

TEST(PlanIndex, RefusesAMappingThatDoesNotKeepDocumentsWhole) {
  for (const char* const mapping :
       {R"({"mappings": {"_source": {"enabled": false}}})",
        R"({"mappings": {"_source": {"enabled": "false"}}})",
        R"({"mappings": {"_source": {"includes": ["a"]}}})",
        R"({"mappings": {"_source": {"mode": "synthetic"}}})",
        R"({"settings": {"index": {"mapping": {"source": {"mode": "disabled"}}}}})",
        R"({"settings": {"mode": "logsdb"}})"}) {
    const auto refusal = refusal_of_mapping(desired(mapping));
    ASSERT_TRUE(refusal) << mapping;
    EXPECT_THAT(refusal->problem, HasSubstr("a _source that is not kept whole")) << mapping;
  }
  for (const char* const mapping :
       {kMapping, R"({"mappings": {"_source": {"enabled": true, "excludes": []}}})",
        R"({"settings": {"mode": "logsdb", "mapping.source.mode": "stored"}})"})
    EXPECT_FALSE(refusal_of_mapping(desired(mapping))) << mapping;
}

TEST(PlanIndex, DoesNotReuseTheNumberOfAnIndexThatHasLostItsAlias) {
  Script script{{{404, kNoIndex}, simulated(kMapping), {200, R"({"posts-000004":{},"posts-000002":{}})"}},
                {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_EQ(plan_index(client, desired()).index, "posts-000005");
}

TEST(PlanIndex, HasNothingToDoForWhatIsAsWanted) {
  Script script{{existing(desired(), mark(desired())), simulated(kMapping)}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired());
  EXPECT_EQ(plan.kind, Kind::kNothing);
  EXPECT_TRUE(plan.changes.empty());
  apply_index_plan(client, desired(), plan);
  EXPECT_EQ(script.requests.size(), 2u);
}

TEST(PlanIndex, WhatWasDoneToTheIndexAndOnlyANewOneCanUndoKeepsNothingUp) {
  const DesiredIndex long_now = desired(R"({"mappings":{"properties":{"a":{"type":"long"}}}})");
  json left = mark(desired());
  for (const char* const view : {"search.posts", "search.posts_before"}) {
    left["view"] = view;
    const HttpResponse before = existing(long_now, left);
    const HttpResponse after = existing(long_now, mark(desired()));
    Script script{{before, simulated(kMapping), before, kDone, {200, "{}"}, after}, {}};
    ElasticsearchClient client = client_of(script);
    const IndexPlan plan = plan_index(client, desired());
    EXPECT_EQ(plan.kind, left["view"] == "search.posts" ? Kind::kNothing : Kind::kUpdate);
    ASSERT_EQ(plan.differences.size(), 1U);
    EXPECT_EQ(plan.differences[0].text(), "field a: type is long, wanted text");
    apply_index_plan(client, desired(), plan);
    if (plan.kind == Kind::kUpdate)
      EXPECT_FALSE(json::parse(script.requests.at(3).body).contains("properties")) << "it would be refused";
  }
}

TEST(PlanIndex, WhereElasticsearchMayNotBeAskedNoDefaultIsTakenForAChange) {
  const DesiredIndex verbose = desired(R"({"mappings":{"properties":{"a":{"type":"text","index":true}}}})");
  Script script{{existing(desired(), mark(verbose)), {403, ""}}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_EQ(plan_index(client, verbose).kind, Kind::kNothing);
}

TEST(PlanIndex, PutsAdditionsInPlaceAndKeepsEpochAndForeignMeta) {
  const std::string longer =
      R"({"settings":{"number_of_replicas":1},"mappings":{"properties":{"a":{"type":"text"},"b":{"type":"date"}}}})";
  const HttpResponse before = existing(desired(), mark(desired()));
  const HttpResponse done = kDone;
  // On an empty index, which is deleted: the settings and the mapping.
  json its_mark = mark(desired(longer));
  its_mark["unwritten"] = "field b";
  const HttpResponse after = existing(desired(longer), its_mark);
  const HttpResponse waited{200, "{}"};
  Script script{{before, simulated(longer), done, done, done, done, before, done, done, waited, after,  //
                 after, done, waited, existing(desired(longer), mark(desired(longer)))},
                {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired(longer));
  EXPECT_EQ(script.requests[5].method, "DELETE");
  EXPECT_EQ(script.requests[5].path + "?wait_for_active_shards=0", script.requests[2].path);
  EXPECT_FALSE(json::parse(script.requests[2].body).at("mappings").contains("_meta"));
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  EXPECT_THAT(plan.changes,
              ElementsAre("field b: new, date", "setting index.number_of_replicas is 0, wanted 1"));

  apply_index_plan(client, desired(longer), plan);
  ASSERT_EQ(script.requests.size(), 11u);
  EXPECT_EQ(script.requests[7].path, "/posts-000003/_settings");
  EXPECT_EQ(script.requests[7].body, R"({"index.number_of_replicas":"1"})");
  EXPECT_EQ(script.requests[8].path, "/posts-000003/_mapping");
  const json mapping = json::parse(script.requests[8].body);
  EXPECT_TRUE(mapping.at("properties").contains("b"));
  EXPECT_EQ(mapping.at("_meta").at("team"), "x");
  EXPECT_EQ(mapping.at("_meta").at("lockstep").at("epoch"), 4);
  EXPECT_EQ(mapping.at("_meta").at("lockstep").at("mapping_checksum"), checksum(desired(longer).mapping));
  EXPECT_EQ(mapping.at("_meta").at("lockstep").at("unwritten"), "field b") << "until a job does it";
  forget_unwritten(client, desired(longer), plan.index);
  ASSERT_EQ(script.requests.size(), 15u);
  EXPECT_FALSE(json::parse(script.requests[12].body).at("_meta").at("lockstep").contains("unwritten"));
}

TEST(PlanIndex, WhatAnApplyLeftUnwrittenIsPlannedAgain) {
  json left = mark(desired());
  left["unwritten"] = "field a.raw";
  Script script{{existing(desired(), left), simulated(kMapping)}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired());
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  EXPECT_EQ(plan.unwritten, "field a.raw");
}

TEST(PlanIndex, AFieldThatNoDocumentHasIsNoReasonToWriteThemAgain) {
  DesiredIndex longer = desired(
      R"({"mappings":{"properties":{"a":{"type":"text","copy_to":"c"},"b.x":{"type":"date"},"c":{"type":"text"}}}})");
  DesiredIndex before = desired(R"({"mappings":{"properties":{"a":{"type":"text","copy_to":"c"}}}})");
  for (const auto& [fields, unwritten] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"a"}, "field c"}, {{"a", "b"}, "field b.x, field c"}}) {
    Script script{{existing(before, mark(before)),
                   {200, json{{"template", {{"mappings", longer.mapping.mappings}}}}.dump()}},
                  {}};
    ElasticsearchClient client = client_of(script);
    longer.fields = fields;
    EXPECT_EQ(plan_index(client, longer).unwritten, unwritten);
  }
}

TEST(PlanIndex, WhatAnEmptyIndexRefusesNeedsAReindexAndTheRestDoesNot) {
  const std::string other =
      R"({"mappings":{"properties":{"a":{"type":"text","analyzer":"simple","search_analyzer":"simple"}}}})";
  const HttpResponse done = kDone;
  const HttpResponse refused{400, R"({"error":{"type":"illegal_argument_exception","reason":"conflicts"}})"};
  Script script{{existing(desired(), mark(desired())), simulated(other), done, refused, refused, done, done},
                {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired(other));
  EXPECT_EQ(plan.kind, Kind::kReindex);
  EXPECT_EQ(plan.problem, "field a: analyzer is not set, wanted simple");
  ASSERT_EQ(plan.differences.size(), 2U);
  EXPECT_EQ(plan.differences[1].way, MappingDifference::Way::kInPlace);
}

TEST(PlanIndex, ARefusedChangeInPlaceNamesTheRemedy) {
  const std::string other = R"({"mappings":{"properties":{"b":{"type":"text"}}}})";
  const HttpResponse before = existing(desired(), mark(desired()));
  Script script{{before,
                 simulated(other),
                 before,
                 {400, R"({"error":{"type":"illegal_argument_exception","reason":"conflicts"}})"}},
                {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired(other));
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  try {
    apply_index_plan(client, desired(other), plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("conflicts"));
    EXPECT_THAT(error.what(), HasSubstr("run `lockstep reindex posts`"));
    EXPECT_FALSE(error.retryable());
  }
}

TEST(PlanIndex, AnotherTypeNeedsAReindex) {
  const std::string other = R"({"mappings":{"properties":{"a":{"type":"keyword"}}}})";
  Script script{{existing(desired(), mark(desired())), simulated(other)}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired(other));
  EXPECT_EQ(plan.kind, Kind::kReindex);
  EXPECT_EQ(plan.problem, "field a: type is text, wanted keyword");
  EXPECT_THAT(plan.remedy, HasSubstr("run `lockstep reindex posts`"));
  EXPECT_THROW(apply_index_plan(client, desired(other), plan), Error);
}

TEST(PlanIndex, ARenamedViewOnlyChangesTheMark) {
  DesiredIndex renamed = desired();
  renamed.view = "search.posts2";
  Script script{{existing(desired(), mark(desired())), simulated(kMapping)}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, renamed);
  EXPECT_EQ(plan.kind, Kind::kUpdate);
  EXPECT_THAT(plan.changes, ElementsAre("note that its view is search.posts2"));
}

struct Refusal {
  const char* what;
  HttpResponse state;
  const char* problem;
};

TEST(PlanIndex, RefusesWhatIsNotOurs) {
  json of_another_pipeline = mark(desired());
  of_another_pipeline["pipeline"] = "crm";
  json of_another_source = mark(desired());
  of_another_source["identity"] = "uuid-2";
  const std::vector<Refusal> refusals = {
      {"an index", existing(desired(), mark(desired()), "posts"), "is an index, not an alias"},
      {"several", {200, R"({"a":{},"b":{}})"}, "several indices: a, b"},
      {"unmarked", existing(desired(), json()), "posts-000003, which lockstep has not made"},
      {"another pipeline's", existing(desired(), of_another_pipeline), "belongs to the pipeline \"crm\""},
      {"another source's", existing(desired(), of_another_source),
       "or of an earlier installation in this one (identity uuid-2)"}};
  for (const Refusal& refusal : refusals) {
    Script script{{refusal.state}, {}};
    ElasticsearchClient client = client_of(script);
    const IndexPlan plan = plan_index(client, desired());
    EXPECT_EQ(plan.kind, Kind::kRefuse) << refusal.what;
    EXPECT_THAT(plan.problem, HasSubstr(refusal.problem));
    EXPECT_FALSE(plan.remedy.empty());
    EXPECT_THROW(apply_index_plan(client, desired(), plan), Error);
    EXPECT_EQ(script.requests.size(), 1u) << refusal.what << ": nothing is changed";
  }
}

// Reported: after `lockstep remove` neither `apply` nor `adopt` took the indices over that it had left.
TEST(PlanIndex, AdoptsWhatAnEarlierInstallationHasLeftAndRisesAboveItsEpoch) {
  DesiredIndex adopting = desired();
  adopting.foreign = DesiredIndex::Foreign::kAdopt;
  json earlier = mark(desired());
  earlier["identity"] = "uuid-0";
  const HttpResponse state = existing(desired(), earlier);
  for (const std::string& identity :
       {std::string(), std::string("uuid-1")}) {  // not applied yet, and applied
    adopting.identity = identity;
    Script script{{state, simulated(kMapping)}, {}};
    ElasticsearchClient client = client_of(script);
    const IndexPlan plan = plan_index(client, adopting);
    EXPECT_EQ(plan.kind, Kind::kAdopt) << plan.problem;
    EXPECT_EQ(plan.taken_from, "uuid-0");
    EXPECT_FALSE(plan.was_cut_off);
  }
  Script script{{state, simulated(kMapping), state, kDone, kDone}, {}};
  ElasticsearchClient client = client_of(script);
  apply_index_plan(client, adopting, plan_index(client, adopting));
  const json written = json::parse(script.requests.at(3).body).at("_meta").at("lockstep");
  EXPECT_EQ(written.at("identity"), "uuid-1");
  EXPECT_EQ(written.at("epoch"), 4);
  EXPECT_EQ(written.at("doubt"), "it was taken over from another installation");

  json of_another_pipeline = earlier;
  of_another_pipeline["pipeline"] = "crm";
  Script other{{existing(desired(), of_another_pipeline)}, {}};
  ElasticsearchClient client_of_other = client_of(other);
  EXPECT_EQ(plan_index(client_of_other, adopting).kind, Kind::kRefuse);

  json of_a_third = earlier;
  of_a_third["identity"] = "uuid-3";
  Script meanwhile{{state, simulated(kMapping), existing(desired(), of_a_third)}, {}};
  ElasticsearchClient client_meanwhile = client_of(meanwhile);
  const IndexPlan plan = plan_index(client_meanwhile, adopting);
  EXPECT_THROW(apply_index_plan(client_meanwhile, adopting, plan), Error) << "another one has taken it";
}

TEST(PlanIndex, AdoptsWhatNobodyHasMarkedAndWhatItWasCutOffIn) {
  DesiredIndex adopting = desired();
  adopting.foreign = DesiredIndex::Foreign::kAdopt;
  json half = mark(desired());
  half["uncompared"] = "index posts";
  const HttpResponse found = existing(desired(), json(), "legacy");
  for (const HttpResponse& state : {found, existing(desired(), half)}) {
    Script script{{state, simulated(kMapping), state, kDone, kDone}, {}};
    ElasticsearchClient client = client_of(script);
    const IndexPlan plan = plan_index(client, adopting);
    ASSERT_EQ(plan.kind, Kind::kAdopt) << plan.problem;
    apply_index_plan(client, adopting, plan);
    const json written = json::parse(script.requests.at(3).body);
    EXPECT_EQ(written.at("_meta").at("team"), "x");
    EXPECT_EQ(written.at("_meta").at("lockstep").at("uncompared"), "index " + plan.index);
    EXPECT_EQ(written.at("_meta").at("lockstep").at("identity"), "uuid-1");
  }
  Script script{{existing(desired(), half)}, {}};
  ElasticsearchClient client = client_of(script);
  const IndexPlan plan = plan_index(client, desired());
  EXPECT_EQ(plan.kind, Kind::kRefuse) << "without its jobs nothing else may go on with it";
  EXPECT_THAT(plan.remedy, HasSubstr("`lockstep adopt posts`"));
}

TEST(PlanIndex, AdoptsNoIndexWhoseDocumentsNobodyCanCompareOrKeep) {
  DesiredIndex adopting = desired();
  adopting.foreign = DesiredIndex::Foreign::kAdopt;
  adopting.fields = {"a", "b"};
  const auto state = [](const json& mappings, const json& settings, const char* name = "legacy") {
    return HttpResponse{
        200,
        json{{name,
              {{"aliases", {{"posts", json::object()}}}, {"mappings", mappings}, {"settings", settings}}}}
            .dump()};
  };
  const json none = json::object();
  const std::vector<Refusal> refusals = {
      {"no source", state({{"_source", {{"enabled", false}}}}, none), "a _source that is not kept whole"},
      {"synthetic", state(none, {{"index.mapping.source.mode", "synthetic"}}),
       "a _source that is not kept whole"},
      {"disabled", state({{"enabled", false}}, none), "\"enabled\": false at the root"},
      {"policy", state(none, {{"index.lifecycle.name", "weekly"}}), "the lifecycle policy weekly"},
      {"async", state(none, {{"index.translog.durability", "async"}}), "index.translog.durability async"},
      {"stream", state(none, none, ".ds-posts-000001"), "belongs to a data stream"},
      {"strict", state({{"dynamic", "strict"}, {"properties", {{"a", {{"type", "text"}}}}}}, none),
       "would be refused: b"}};
  for (const Refusal& refusal : refusals) {
    Script script{{refusal.state}, {}};
    ElasticsearchClient client = client_of(script);
    const IndexPlan plan = plan_index(client, adopting);
    EXPECT_EQ(plan.kind, Kind::kRefuse) << refusal.what;
    EXPECT_THAT(plan.problem, HasSubstr(refusal.problem)) << refusal.what;
    EXPECT_FALSE(plan.remedy.empty());
  }
}

TEST(ValidateMapping, AsksBySimulatingATemplate) {
  const IndexMapping mapping = desired().mapping;
  Script script{
      {simulated(kMapping),
       {400, R"({"error":{"type":"t","reason":"outer","caused_by":{"type":"t","reason":"no handler"}}})"}},
      {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_EQ(validate_mapping(client, "posts", mapping), std::nullopt);
  const std::optional<std::string> refusal = validate_mapping(client, "posts", mapping);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("no handler"));
  for (const RecordedRequest& request : script.requests)
    EXPECT_EQ(request.path, "/_index_template/_simulate");
}

TEST(ValidateMapping, WhereThatIsNotAllowedItLeavesNoIndexBehind) {
  for (const HttpResponse& created :
       {kDone, HttpResponse{400, R"({"error":{"type":"t","reason":"no"}})"}, HttpResponse{503, ""}}) {
    Script script{{{403, ""}, created, kDone}, {}};
    ElasticsearchClient client = client_of(script);
    if (created.status == 503) {
      EXPECT_THROW(validate_mapping(client, "posts", desired().mapping), Error);
    } else {
      EXPECT_EQ(validate_mapping(client, "posts", desired().mapping).has_value(), created.status == 400);
    }
    ASSERT_EQ(script.requests.size(), 3u);
    EXPECT_THAT(script.requests[1].path, HasSubstr("/posts-check-"));
    EXPECT_EQ(script.requests[2].method, "DELETE");
    EXPECT_EQ(script.requests[2].path, script.requests[1].path);
  }
}

TEST(IndexMark, SaysWhoWritesAndFromWhere) {
  const HttpResponse state = existing(desired(), mark(desired()));
  Script script{{state, state, kDone}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_EQ(marked_index(client, "posts").mark.epoch, Epoch{4});
  const SourceMark source{"here", "1", 5, "16400", "a mark"};
  set_index_writer(client, "posts", {}, desired().identity, Epoch{9}, source);
  EXPECT_EQ(script.requests.back().path, "/posts-000003/_mapping");
  json expected = mark(desired());
  expected["epoch"] = 9;
  expected["source"] = {
      {"place", "here"}, {"timeline", "1"}, {"progress", 5}, {"tables", "16400"}, {"mark", "a mark"}};
  const json mappings = json::parse(script.requests.back().body);
  EXPECT_EQ(mappings, json({{"_meta", {{"team", "x"}, {"lockstep", expected}}}}));
  EXPECT_EQ(read_mark({"posts-000003", "uuid", {}, {}, {}, mappings, {}})->source, source);
}

TEST(IndexMark, AMarkThatCannotBeReadDoesNotHideARestoredSource) {
  const auto error_with = [](const json& change) {
    json stored = mark(desired());
    stored["source"] = {{"place", "here"}, {"timeline", "1"}, {"progress", 5}};
    stored.merge_patch(change);
    Script script{{existing(desired(), stored)}, {}};
    ElasticsearchClient client = client_of(script);
    try {
      (void)marked_index(client, "posts");
    } catch (const Error& error) {
      EXPECT_FALSE(error.retryable());
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_with({{"source", {{"progress", "5"}}}}), "no error") << "a number in text is that number";
  EXPECT_THAT(error_with({{"source", {{"progress", "five"}}}}),
              HasSubstr("the mark of the index posts-000003: its source.progress is \"five\""));
  EXPECT_THAT(error_with({{"source", {{"place", 7}}}}), HasSubstr("its source.place is 7"));
  EXPECT_THAT(error_with({{"source", {{"timeline", nullptr}}}}), HasSubstr("it has no source.timeline"));
  EXPECT_THAT(error_with({{"source", 7}}), HasSubstr("its source is 7"));
  EXPECT_THAT(error_with({{"epoch", "four"}}), HasSubstr("its epoch is \"four\""));
  EXPECT_THAT(error_with({{"identity", 1}}), HasSubstr("its identity is 1"));
  EXPECT_THAT(error_with({{"pipeline", nullptr}}), HasSubstr("it has no pipeline"));
  EXPECT_THAT(error_with({{"epoch", nullptr}}), HasSubstr("it has none"));
}

// A seed of the simulation reported it of its alias: it was moved between the look at it and the new mark.
TEST(IndexMark, TheMarkOfAnotherPipelineIsNotChanged) {
  json of_another = mark(desired());
  of_another["identity"] = "another";
  Script script{{existing(desired(), of_another)}, {}};
  ElasticsearchClient client = client_of(script);
  EXPECT_THROW(set_index_writer(client, "posts", {}, desired().identity, Epoch{9}, {}), Error);
  EXPECT_EQ(script.requests.size(), 1u);
}

TEST(IndexMark, NeedsAnAliasWithOneMarkedIndex) {
  for (const HttpResponse& state :
       {HttpResponse{404, kNoIndex}, HttpResponse{200, R"({"a":{},"b":{}})"}, existing(desired(), json())}) {
    Script script{{state, state}, {}};
    ElasticsearchClient client = client_of(script);
    EXPECT_THROW(marked_index(client, "posts"), Error);
    EXPECT_THROW(set_index_writer(client, "posts", {}, desired().identity, Epoch{1}, {}), Error);
    EXPECT_EQ(script.requests.size(), 2u);
  }
}

}  // namespace
}  // namespace lockstep
