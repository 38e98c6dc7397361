// `lockstep status --watch`: a screen that is drawn again every second, and one line a second without a
// terminal.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "replicator/cli/text/sparkline.h"
#include "replicator/source/pipeline_status.h"

namespace lockstep {

/// The last values of one number.
class Trend {
 public:
  void add(double value);
  const std::deque<double>& values() const { return values_; }
  double most() const;

 private:
  std::deque<double> values_;
};

struct StatusTrends {
  Trend lag_seconds;
  Trend documents_per_second;

  void add(const PipelineStatus& status);
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// The screen: state, bars of lag and rate, status_text(), and a bar for each job. No line is wider than the
/// screen, and the lines that do not fit below are counted. `trouble`: why the status cannot be read any
/// more; then `status` is the last one.
std::string status_screen(const std::string& pipeline, const std::optional<PipelineStatus>& status,
                          const StatusTrends& trends, const std::string& trouble, ScreenSize size,
                          Glyphs glyphs);

/// "following, lag 12 ms, 3 pending rows, 3,400/s, 3,200 documents due, 3 dead letters", without line feed.
std::string status_line(const std::optional<PipelineStatus>& status);

}  // namespace lockstep
