#include "tests/proof/chaos/report.h"

#include <iomanip>
#include <ostream>

namespace lockstep::chaos {
namespace {

constexpr std::size_t kTextsShown = 10;

std::string seconds(std::chrono::milliseconds duration) {
  const auto tenths = duration.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

void print(std::ostream& out, const Report& report) {
  const auto row = [&](const std::string& what, const std::string& value) {
    out << std::left << std::setw(46) << what << std::right << std::setw(12) << value << '\n';
  };
  row("transactions committed", std::to_string(report.committed));
  row("  ended by PostgreSQL or a fault", std::to_string(report.failed));
  int faults = 0;
  int kills = 0;
  for (const auto& [name, count] : report.faults) {
    faults += count;
    if (name.starts_with("kill ")) kills += count;
  }
  row("faults", std::to_string(faults));
  row("kills among them", std::to_string(kills));
  for (const auto& [name, count] : report.faults) row("  " + name, std::to_string(count));
  for (const auto& [name, count] : report.reindexing) row(name, std::to_string(count));
  row("searches", std::to_string(report.searches));
  row("leaderships (take-overs)", std::to_string(report.leaderships));
  row("operations on documents", std::to_string(report.operations));
  row("  sent again", std::to_string(report.repeated));
  row("  superseded by a newer version", std::to_string(report.superseded));
  row("commit to index, median", std::to_string(report.delays.median.count()) + " ms");
  row("  longest stall, faults included", seconds(report.delays.longest));
  row("  longest until equal after the faults", seconds(report.findings.longest_catch_up));
  row("checks of all documents", std::to_string(report.findings.checks));
  row("dead letters", std::to_string(report.findings.dead_letters));
  row("differences", std::to_string(report.findings.differences));
  row("findings of any kind", std::to_string(report.findings.texts.size() + report.misconduct.size()));
  std::vector<std::string> texts = report.findings.texts;
  texts.insert(texts.end(), report.misconduct.begin(), report.misconduct.end());
  for (std::size_t i = 0; i < texts.size() && i < kTextsShown; ++i) out << "\n" << texts[i] << '\n';
  if (texts.size() > kTextsShown) out << "\n… and " << texts.size() - kTextsShown << " more\n";
}

}  // namespace lockstep::chaos
