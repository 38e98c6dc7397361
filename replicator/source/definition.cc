#include "replicator/source/definition.h"

#include <algorithm>

#include "replicator/error.h"

namespace lockstep {

std::string place_in(const Config& config, int line) {
  return config.file.empty() ? "line " + std::to_string(line)
                             : config.file.string() + ":" + std::to_string(line);
}

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

bool has_errors(const std::vector<Finding>& findings, Finding::Cause cause) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.severity == Finding::Severity::kError && finding.cause == cause;
  });
}

void require_no_errors(const std::vector<Finding>& findings) {
  std::string errors;
  for (const Finding& finding : findings) {
    if (finding.severity != Finding::Severity::kError) continue;
    errors += (errors.empty() ? "" : "\n") + to_line(finding);
  }
  if (!errors.empty()) throw UsageError(errors);
}

}  // namespace lockstep
