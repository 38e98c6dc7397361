#include "replicator/cli/text/plan_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "replicator/cli/text/json_text.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string_view name_of(PlanStep::Action action) {
  static constexpr std::array<std::string_view, 3> kNames = {"create", "change", "drop"};
  return kNames.at(static_cast<std::size_t>(action));
}

Json json_of(const PlanStep& step) {
  return {
      {"action", name_of(step.action)}, {"object", step.object}, {"detail", step.detail}, {"sql", step.sql}};
}

Json json_of(const MappingDifference& difference) {
  return {{"place", difference.place},
          {"parameter", text_or_null(difference.parameter)},
          {"is", text_or_null(difference.is)},
          {"wanted", text_or_null(difference.wanted)},
          {"way", name_of(difference.way)},
          {"writes_every_document", difference.way == MappingDifference::Way::kInPlace &&
                                        difference.reach == MappingDifference::Reach::kLaterWrites}};
}

Json json_of(const IndexPlan& index) {
  Json differences = Json::array();
  for (const MappingDifference& difference : index.differences) differences.push_back(json_of(difference));
  return {{"alias", index.alias},
          {"index", text_or_null(index.index)},
          {"plan", name_of(index.kind)},
          {"differences", std::move(differences)}};
}

Json json_of(const Finding& obstacle) {
  return {{"place", obstacle.place}, {"message", obstacle.message}, {"remedy", obstacle.remedy}};
}

template <typename Part>
Json list_of(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) list.push_back(json_of(part));
  return list;
}

}  // namespace

std::string plan_json(const std::string& pipeline, const DeploymentPlan& plan,
                      const std::vector<std::string>& grants) {
  return json_text({{"pipeline", pipeline},
                    {"steps", list_of(plan.steps)},
                    {"indices", list_of(plan.indices)},
                    {"obstacles", list_of(plan.obstacles)},
                    {"grants", grants}});
}

}  // namespace lockstep
