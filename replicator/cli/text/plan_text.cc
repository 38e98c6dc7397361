#include "replicator/cli/text/plan_text.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "replicator/process/terminal.h"

namespace lockstep {
namespace {

struct Mark {
  std::string words;
  std::string colour;  // green, yellow or red, as terminals number them
};

Mark mark_of(PlanStep::Action action) {
  switch (action) {
    case PlanStep::Action::kCreate:
      return {"+ create ", "\033[32m"};
    case PlanStep::Action::kChange:
      return {"~ change ", "\033[33m"};
    case PlanStep::Action::kDrop:
      return {"- drop ", "\033[31m"};
  }
  return {};
}

std::string way_text(const MappingDifference& difference, const std::string& alias) {
  using Way = MappingDifference::Way;
  const std::string reindex = "`lockstep reindex " + alias + "`";
  switch (difference.way) {
    case Way::kInPlace:
      return difference.reach == MappingDifference::Reach::kLaterWrites
                 ? "in place, and every document is written again"
                 : "in place";
    case Way::kClosedIndex:
      return "needs a closed index, which cannot be searched, or " + reindex;
    case Way::kNewIndex:
      return "needs " + reindex;
    case Way::kUnknown:
      break;
  }
  throw std::logic_error("a plan with an undecided difference: " + difference.text());
}

}  // namespace

Colour colour_of_output() {
  return shows_colours() ? Colour::kOn : Colour::kOff;
}

std::string step_text(const PlanStep& step, Sql sql, Colour colour) {
  const Mark mark = mark_of(step.action);
  std::string text = colour == Colour::kOn ? mark.colour + mark.words + "\033[0m" : mark.words;
  text += step.object;
  if (!step.detail.empty()) text += ": " + step.detail;
  text += '\n';
  if (sql == Sql::kHidden) return text;
  std::istringstream lines(step.sql);
  for (std::string line; std::getline(lines, line);) text += line.empty() ? "\n" : "    " + line + "\n";
  return text;
}

std::string plan_text(const std::vector<PlanStep>& steps, Sql sql, Colour colour) {
  std::string text;
  for (const PlanStep& step : steps) text += step_text(step, sql, colour);
  return text;
}

std::string count_text(const std::vector<PlanStep>& steps) {
  const auto count = [&](PlanStep::Action action) {
    return std::to_string(std::count_if(steps.begin(), steps.end(),
                                        [&](const PlanStep& step) { return step.action == action; }));
  };
  return count(PlanStep::Action::kCreate) + " to create, " + count(PlanStep::Action::kChange) +
         " to change, " + count(PlanStep::Action::kDrop) + " to delete\n";
}

std::string other_aliases_text(const std::vector<std::string>& aliases) {
  std::string names;
  for (const std::string& alias : aliases) names += (names.empty() ? "" : ", ") + alias;
  return "with the alias the new index gets these others of the old one: " + names;
}

std::string ways_text(const IndexPlan& plan) {
  using Kind = IndexPlan::Kind;
  if (plan.kind == Kind::kAdopt || plan.kind == Kind::kRefuse) return "";
  std::string text;
  for (const MappingDifference& difference : plan.differences) {
    const std::string line = difference.text() + ": " + way_text(difference, plan.alias) + '\n';
    if (plan.kind == Kind::kReindex)
      text += "    " + line;
    else if (difference.way != MappingDifference::Way::kInPlace)
      text += "! index " + plan.index + ": " + line;
  }
  if (plan.kind == Kind::kReindex && !plan.other_aliases.empty())
    text += "    " + other_aliases_text(plan.other_aliases) + '\n';
  return text;
}

std::string grants_text(const std::string& role, const std::vector<std::string>& grants) {
  if (grants.empty()) return "";
  std::string text = "\n-- The rights that \"" + role + "\" needs for lockstep run:\n";
  for (const std::string& grant : grants) text += grant + ";\n";
  return text;
}

std::string finding_text(const Finding& finding) {
  return (finding.severity == Finding::Severity::kError ? "error: " : "warning: ") + to_line(finding) + "\n";
}

}  // namespace lockstep
