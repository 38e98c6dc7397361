#include "replicator/cli/text/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "replicator/process/terminal.h"
#include "replicator/quantity.h"
#include "replicator/service/readable.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::milliseconds kPrintInterval{10'000};
constexpr int kBarColumns = 20;

}  // namespace

std::string progress_bar(std::int64_t done, std::int64_t total, double per_second) {
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * kBarColumns);
  std::string line = "[" + std::string(filled, '#') + std::string(kBarColumns - filled, ' ') + "] " +
                     grouped(done) + " of " + grouped(total) + " documents  " +
                     std::to_string(static_cast<int>(share * 100)) + " %  " + rate_text(per_second);
  if (per_second > 0 && done < total) {
    const double seconds = static_cast<double>(total - done) / per_second;
    line += "  " + readable(std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6))) + " left";
  }
  return line;
}

std::string fitting(std::string line, int columns) {
  if (columns > 1 && line.size() >= static_cast<std::size_t>(columns))
    line.resize(static_cast<std::size_t>(columns) - 1);
  return line;
}

int rows_of(const std::string& line, int columns) {
  const auto characters = static_cast<int>(
      std::count_if(line.begin(), line.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
  return columns < 1 ? 1 : std::max(1, (characters + columns - 1) / columns);
}

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool ProgressLine::due() const {
  const auto now = std::chrono::steady_clock::now();
  return !shown_at_ || now - *shown_at_ >= (shows_progress() ? kRedraw : kPrintInterval);
}

void ProgressLine::show(const std::string& line, TooLong too_long) {
  const bool first = !shown_at_;
  shown_at_ = std::chrono::steady_clock::now();
  if (shows_progress()) {
    const int columns = terminal_columns();
    clear();
    const std::string drawn = too_long == TooLong::kCut ? fitting(line, columns) : line;
    drawn_rows_ = rows_of(drawn, columns);
    std::cerr << kClearLine << drawn << std::flush;
  } else if (!first && printed_ != line) {  // work that ends soon needs no line
    printed_ = line;
    std::cerr << line << '\n';
  }
}

void ProgressLine::clear() {
  if (drawn_rows_ > 1) std::cerr << "\r\033[" << drawn_rows_ - 1 << "A\033[J";  // up, and all below
  if (drawn_rows_ > 0) std::cerr << kClearLine << std::flush;
  drawn_rows_ = 0;
}

}  // namespace lockstep
