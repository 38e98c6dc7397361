#include "replicator/source/postgres/catalog/planner_estimate.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep {

std::string ask_planner_for_rows(const std::string& view) {
  return "explain (format json) select from " + view;
}

std::int64_t rows_planned(const pqxx::result& answer) {
  const auto plan = nlohmann::json::parse(answer[0][0].c_str());
  return std::llround(plan.at(0).at("Plan").at("Plan Rows").get<double>());
}

}  // namespace lockstep
