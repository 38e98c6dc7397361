#include "replicator/service/heartbeat.h"

#include <algorithm>
#include <utility>

#include "replicator/pause.h"
#include "replicator/quantity.h"
#include "replicator/service/health.h"
#include "replicator/service/rate_meter.h"
#include "replicator/service/readable.h"
#include "replicator/service/systemd.h"

namespace lockstep {
namespace {

// How soon systemd hears that it is ready.
constexpr std::chrono::milliseconds kUntilReady{50};

}  // namespace

std::string status_line(const ReplicationProgress& progress, double documents_per_second) {
  std::string line(to_string(progress.state));
  for (char& c : line) {
    if (c == '_') c = ' ';
  }
  if (!progress.unled.empty()) return line + ", but no process runs the pipeline: " + progress.unled;
  if (const std::string why = why_it_waits(progress); !why.empty()) return line + ": " + why;
  if (progress.state == PipelineState::kStandingBy || progress.state == PipelineState::kConnecting)
    return line;
  line += progress.pending ? ": lag " + readable(progress.lag) : ": nothing pending";
  line += ", " + rate_text(documents_per_second);
  std::int64_t dead_letters = 0, done = 0, total = 0;
  for (const auto& [id, index] : progress.indices) {
    dead_letters += index.dead_letters;
    for (const JobStatus& job : index.jobs) {
      done += job.done;
      total += job.total.value_or(job.done);
    }
  }
  if (total > 0) line += ", jobs at " + grouped(done) + " of " + counted(total, "document");
  if (dead_letters > 0) line += ", " + counted(dead_letters, "dead letter");
  return line;
}

Heartbeat::Heartbeat(const ProgressBoard& board, const Clock& clock, std::chrono::milliseconds interval)
    : board_(board),
      clock_(clock),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Heartbeat::run(const std::stop_token& stop) const {
  RateMeter rate;
  SteadyTime seen{};
  bool ready = false;
  while (!stop.stop_requested()) {
    const ReplicationProgress progress = board_.read();
    if (is_up(progress) && !std::exchange(ready, true)) systemd::notify_ready();
    rate.add(clock_.now(), documents_applied(progress));
    systemd::notify_status(status_line(progress, rate.per_second()));
    if (progress.turned_at != seen) systemd::feed_watchdog();
    seen = progress.turned_at;
    pause(ready ? interval_ : std::min(interval_, kUntilReady), stop);
  }
}

}  // namespace lockstep
