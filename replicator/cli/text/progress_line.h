// One line with the progress of long work: redrawn on a terminal, printed now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "replicator/clock.h"

namespace lockstep {

/// "[#########           ] 12,345 of 48,000 documents  25 %  3,400/s  10.4 s left". REQUIRES: total > 0.
std::string progress_bar(std::int64_t done, std::int64_t total, double per_second);

/// Sent to a terminal before its last line is drawn again.
inline constexpr const char* kClearLine = "\r\033[K";

/// Cuts `line` so that it fits a terminal of this width.
std::string fitting(std::string line, int columns);

/// The rows that `line` takes on a terminal of this width.
int rows_of(const std::string& line, int columns);

/// The width of the terminal at standard error.
int terminal_columns();

/// Writes to standard error. Clears the line when it goes out of scope.
class ProgressLine {
 public:
  ProgressLine() = default;
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// For a line that is longer than the terminal is wide.
  enum class TooLong {
    kCut,
    kWrapped,  ///< for sentences, whose end is the remedy
  };

  /// Whether it is time for another line. Ask first if the line is expensive to make.
  bool due() const;
  /// Elsewhere than on a terminal, an unchanged line is not printed again.
  void show(const std::string& line, TooLong too_long = TooLong::kCut);
  /// Call this before any other output to the terminal.
  void clear();

 private:
  std::optional<SteadyTime> shown_at_;
  int drawn_rows_ = 0;
  std::string printed_;
};

}  // namespace lockstep
