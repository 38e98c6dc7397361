#include "replicator/source/definition.h"

#include <algorithm>

namespace lockstep {

std::string to_line(const Finding& finding) {
  std::string line = finding.place;
  if (!line.empty()) line += ": ";
  line += finding.message;
  if (!finding.remedy.empty()) line += "; " + finding.remedy;
  return line;
}

bool has_errors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Finding::Severity::kError; });
}

}  // namespace lockstep
