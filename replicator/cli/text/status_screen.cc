#include "replicator/cli/text/status_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/text/status_text.h"
#include "replicator/quantity.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/readable.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostValues = 300;
constexpr double kLeastLagSeconds = 0.05;  // less is no mountain
constexpr double kLeastRate = 1;

std::string duration_text(double seconds) {
  return readable(std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)));
}

double rate_of(const PipelineStatus& status) {
  if (!is_running(status)) return 0;
  return nlohmann::json::parse(status.leader->document).value("documents_per_second", 0.0);
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// In characters: the bars have several bytes each.
std::string cut(const std::string& line, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!continues_character(line[i]) && ++characters > columns) return line.substr(0, i);
  }
  return line;
}

std::string trend_line(const char* name, const Trend& trend, double least, const std::string& text,
                       std::size_t columns, Glyphs glyphs) {
  const std::string begin = fmt::format("  {:<12}", name);
  const std::size_t taken = begin.size() + 2 + text.size();
  const std::size_t bars = columns > taken ? columns - taken : 0;
  return begin + sparkline(trend.values(), std::max(trend.most(), least), bars, glyphs) + "  " + text;
}

std::vector<std::string> job_lines(const PipelineStatus& status) {
  std::vector<std::string> lines;
  const std::map<JobId, double> rates = job_rates_of(status);
  for (const IndexStatus& index : status.indices) {
    for (const IndexStatus::Job& job : index.jobs) {
      if (!job.total || *job.total <= 0) continue;
      const auto rate = rates.find(job.id);
      lines.push_back("  " + index.alias + " " + job.kind);
      lines.push_back("    " + progress_bar(std::min(job.done, *job.total), *job.total,
                                            rate == rates.end() ? 0 : rate->second));
    }
  }
  return lines;
}

}  // namespace

void Trend::add(double value) {
  values_.push_back(value);
  if (values_.size() > kMostValues) values_.pop_front();
}

double Trend::most() const {
  return values_.empty() ? 0 : *std::max_element(values_.begin(), values_.end());
}

void StatusTrends::add(const PipelineStatus& status) {
  lag_seconds.add(static_cast<double>(status.pending_age.count()) / 1'000);
  documents_per_second.add(rate_of(status));
}

std::string status_screen(const std::string& pipeline, const std::optional<PipelineStatus>& status,
                          const StatusTrends& trends, const std::string& trouble, ScreenSize size,
                          Glyphs glyphs) {
  std::vector<std::string> lines;
  std::istringstream text(status_text(pipeline, status));
  std::string line;
  std::getline(text, line);
  lines.push_back(line + "  (q ends)");
  if (!trouble.empty()) lines.push_back("  not known since: " + trouble);
  if (status && !trends.lag_seconds.values().empty()) {
    const auto trend = [&](const char* name, const Trend& values, double least, const std::string& now) {
      lines.push_back(trend_line(name, values, least, now, size.columns, glyphs));
    };
    trend("lag", trends.lag_seconds, kLeastLagSeconds,
          lag_text(*status) + ", at most " + duration_text(trends.lag_seconds.most()));
    trend("rate", trends.documents_per_second, kLeastRate,
          rate_text(trends.documents_per_second.values().back()) + ", at most " +
              rate_text(trends.documents_per_second.most()));
  }
  while (std::getline(text, line)) {
    if (!line.starts_with("  lag ") && !line.starts_with("  rate ")) lines.push_back(line);  // they are above
  }
  if (status) {
    for (std::string& job : job_lines(*status)) lines.push_back(std::move(job));
  }
  if (lines.size() > size.lines && size.lines > 1) {
    const std::size_t left_out = lines.size() - size.lines + 1;
    lines.resize(size.lines - 1);
    lines.push_back("  … " + counted(static_cast<std::int64_t>(left_out), "more line"));
  }
  std::string screen;
  for (const std::string& each : lines) screen += (screen.empty() ? "" : "\n") + cut(each, size.columns);
  return screen;
}

std::string status_line(const std::optional<PipelineStatus>& status) {
  std::string line = spaced(state_of(status));
  if (!status) return line;
  if (const std::string reason = reason_of(*status); !reason.empty()) line += ": " + reason;
  line += status->pending_rows == 0 ? ", nothing pending"
                                    : ", lag " + readable(status->pending_age) + ", " +
                                          counted(status->pending_rows, "pending row");
  line += ", " + rate_text(rate_of(*status));
  std::int64_t dead_letters = 0, jobs = 0, due = 0;
  bool is_any_due = false;
  for (const IndexStatus& index : status->indices) {
    dead_letters += index.dead_letters;
    jobs += static_cast<std::int64_t>(index.jobs.size());
    is_any_due = is_any_due || index.due;
    if (index.due) due += index.due->documents;
    if (index.set_aside) line += ", " + index.alias + " is not followed";
  }
  if (is_any_due) line += ", " + (due > 0 ? counted(due, "document") : std::string("changes")) + " due";
  if (jobs > 0) line += ", " + counted(jobs, "job");
  if (dead_letters > 0) line += ", " + counted(dead_letters, "dead letter");
  const std::size_t warnings = warnings_of(*status).size();
  if (warnings > 0) line += ", " + counted(static_cast<std::int64_t>(warnings), "warning");
  return line;
}

}  // namespace lockstep
