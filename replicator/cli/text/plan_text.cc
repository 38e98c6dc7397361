#include "replicator/cli/text/plan_text.h"

#include <sstream>

namespace lockstep {
namespace {

const char* words(PlanStep::Action action) {
  switch (action) {
    case PlanStep::Action::kCreate:
      return "+ create ";
    case PlanStep::Action::kChange:
      return "~ change ";
    case PlanStep::Action::kDrop:
      return "- drop ";
  }
  return "";
}

}  // namespace

std::string step_text(const PlanStep& step, Sql sql) {
  std::string text = words(step.action) + step.object;
  if (!step.detail.empty()) text += ": " + step.detail;
  text += '\n';
  if (sql == Sql::kHidden) return text;
  std::istringstream lines(step.sql);
  for (std::string line; std::getline(lines, line);) text += line.empty() ? "\n" : "    " + line + "\n";
  return text;
}

std::string plan_text(const std::vector<PlanStep>& steps, Sql sql) {
  std::string text;
  for (const PlanStep& step : steps) text += step_text(step, sql);
  return text;
}

std::string grants_text(const std::string& role, const std::vector<std::string>& grants) {
  if (grants.empty()) return "";
  std::string text = "\n-- What \"" + role + "\" needs for lockstep run:\n";
  for (const std::string& grant : grants) text += grant + ";\n";
  return text;
}

std::string finding_text(const Finding& finding) {
  return (finding.severity == Finding::Severity::kError ? "error: " : "warning: ") + to_line(finding) + "\n";
}

}  // namespace lockstep
