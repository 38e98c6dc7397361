#include "replicator/cli/text/plan_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

TEST(PlanJsonTest, HasTheWholePlan) {
  IndexPlan index;
  index.kind = IndexPlan::Kind::kReindex;
  index.alias = "posts";
  index.index = "posts-000001";
  index.differences = {{"field title.raw",
                        "",
                        "",
                        "keyword",
                        MappingDifference::Way::kInPlace,
                        MappingDifference::Reach::kLaterWrites,
                        {}},
                       {"field title",
                        "type",
                        "text",
                        "keyword",
                        MappingDifference::Way::kNewIndex,
                        MappingDifference::Reach::kEveryDocument,
                        {}}};
  DeploymentPlan plan;
  plan.steps = {{PlanStep::Action::kDrop, "function f", "nobody tracks it", "drop function f"}};
  plan.obstacles = {
      {Finding::Severity::kError, "index posts", "field title: …", "run `lockstep reindex posts`"}};
  plan.indices = {index};
  const std::string text = plan_json("shop", plan, {"grant usage on schema blog to lockstep"});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
    "pipeline": "shop",
    "steps": [{"action": "drop", "object": "function f", "detail": "nobody tracks it", "sql": "drop function f"
}],
    "indices": [{"alias": "posts", "index": "posts-000001", "plan": "reindex", "differences": [
      {"place": "field title.raw", "parameter": null, "is": null, "wanted": "keyword", "way": "in_place",
       "writes_every_document": true},
      {"place": "field title", "parameter": "type", "is": "text", "wanted": "keyword", "way": "new_index",
       "writes_every_document": false}]}],
    "obstacles": [{"place": "index posts", "message": "field title: …", "remedy": "run `lockstep reindex posts`"}],
    "grants": ["grant usage on schema blog to lockstep"]
})"));
}

TEST(PlanJsonTest, NothingToDoIsEmptyLists) {
  EXPECT_EQ(plan_json("shop", {}, {}),
            R"({"pipeline":"shop","steps":[],"indices":[],"obstacles":[],"grants":[]})");
}

}  // namespace
}  // namespace lockstep
