#include "replicator/cli/text/catch_up_display.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "replicator/cli/text/progress_line.h"
#include "replicator/pause.h"
#include "replicator/process/terminal.h"
#include "replicator/service/heartbeat.h"
#include "replicator/service/rate_meter.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kRedrawPause{200};
constexpr std::chrono::milliseconds kLogInterval{10'000};

struct Work {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

Work work_of(const ReplicationProgress& progress) {
  Work work;
  for (const auto& [id, index] : progress.indices) {
    for (const JobStatus& job : index.jobs) {
      work.done += job.done;
      work.total += std::max(job.total.value_or(0), job.done);
    }
    if (!index.due) continue;
    work.done += index.due_written;
    work.total += index.due_written + index.due->documents;
  }
  return work;
}

std::int64_t written(const ReplicationProgress& progress) {
  std::int64_t sum = 0;
  for (const auto& [id, index] : progress.indices) sum += index.documents + index.deletes;
  return sum;
}

}  // namespace

std::string catch_up_line(const ReplicationProgress& progress, double documents_per_second, int columns) {
  const Work work = work_of(progress);
  std::string line;
  if (work.total == 0 || !progress.reason.empty()) {
    line = status_line(progress, documents_per_second);
  } else {
    line = progress_bar(work.done, work.total, documents_per_second);
  }
  return fitting(std::move(line), columns);
}

std::string long_reason(const ReplicationProgress& progress, const std::string& told, int columns) {
  if (progress.reason.empty() || progress.reason == told) return {};
  std::string line = status_line(progress, 0);
  return fitting(line, columns) == line ? std::string() : line;
}

CatchUpDisplay::CatchUpDisplay(const ProgressBoard& board)
    : board_(board), thread_([this](const std::stop_token& stop) { run(stop); }) {}

CatchUpDisplay::~CatchUpDisplay() {
  thread_.request_stop();
  thread_.join();
  if (shows_progress()) std::cerr << kClearLine << std::flush;
}

void CatchUpDisplay::run(const std::stop_token& stop) const {
  const bool bar = shows_progress();
  const SystemClock clock;
  RateMeter rate;
  SteadyTime logged_at = clock.now();
  std::string told;
  while (!stop.stop_requested()) {
    const ReplicationProgress progress = board_.read();
    rate.add(clock.now(), written(progress));
    if (bar) {
      const std::string reason = long_reason(progress, told, terminal_columns());
      if (!reason.empty()) std::cerr << kClearLine << reason << '\n';
      told = progress.reason;
      std::cerr << kClearLine << catch_up_line(progress, rate.per_second(), terminal_columns()) << std::flush;
    } else if (clock.now() - logged_at >= kLogInterval) {
      spdlog::info("{}", status_line(progress, rate.per_second()));
      logged_at = clock.now();
    }
    pause(kRedrawPause, stop);
  }
}

}  // namespace lockstep
