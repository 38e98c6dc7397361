#include "replicator/service/slow_readings.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "replicator/service/readable.h"

namespace lockstep {
namespace {

using LockWaiter = LockWait::Waiter;

std::string time_since(SteadyTime then, SteadyTime now) {
  return readable(std::chrono::duration_cast<std::chrono::microseconds>(now - then));
}

// The loop's long reading. None: it turns, or it has not begun to.
Reading slow_turn(const ReplicationProgress& progress, SteadyTime now) {
  if (progress.lag_known_at == SteadyTime{} || now - progress.turned_at < SlowReadings::kSlow) return {};
  const Reading& reading = progress.loop_reads;
  if (!reading.what.empty() && now - reading.since >= SlowReadings::kSlow) return reading;
  if (now - progress.turned_at < SlowReadings::kSlowOther) return {};
  return {"a turn of the replication loop", progress.turned_at};
}

// Changes whose documents are not found yet, for long. None: all are found, or will be soon.
Reading slow_list(const ReplicationProgress& progress) {
  Reading oldest;
  for (const auto& [id, index] : progress.indices) {
    if (!index.due || index.due->changes == 0 || index.due->documents > 0 || index.set_aside) continue;
    if (index.due->oldest_age < SlowReadings::kSlow) continue;
    const SteadyTime since = index.due_known_at - index.due->oldest_age;
    if (oldest.what.empty() || since < oldest.since)
      oldest = {"finding the documents of a large change of " + index.alias, since};
  }
  return oldest;
}

std::string why(const std::vector<LockWait>& locks, LockWaiter waiter) {
  std::string text;
  for (const LockWait& lock : locks) {
    if (lock.waiter == waiter) text += (text.empty() ? "" : ", and ") + reason_of(lock);
  }
  return text;
}

}  // namespace

std::vector<SlowReadings::Slow> SlowReadings::find(const ReplicationProgress& progress, SteadyTime now,
                                                   const AskForLocks& ask) {
  const Reading turn = slow_turn(progress, now);
  const Reading page = now - progress.job_reads.since < kSlow ? Reading{} : progress.job_reads;
  const Reading list = slow_list(progress);
  if (turn.what.empty() && page.what.empty() && list.what.empty()) return {};
  const std::vector<LockWait> locks = ask();
  std::vector<Slow> slow;
  const auto add = [&](const Reading& reading, LockWaiter waiter, bool also_without_lock) {
    if (reading.what.empty()) return;
    std::string reason = why(locks, waiter);
    if (also_without_lock || !reason.empty())
      slow.push_back({reading.what, std::move(reason), reading.since});
  };
  add(turn, LockWaiter::kLoop, true);
  add(page, LockWaiter::kPages, now - page.since >= kSlowOther);
  add(list, LockWaiter::kLists, false);  // it may have to wait for its turn
  return slow;
}

void SlowReadings::look(ProgressBoard& board, SteadyTime now, const AskForLocks& ask) {
  const ReplicationProgress progress = board.read();
  std::vector<Slow> slow;
  if (replicates(progress.state)) slow = find(progress, now, ask);
  std::string text;
  SteadyTime oldest{};
  for (const Slow& each : slow) {
    text += (text.empty() ? "" : "; ") + each.what + " has taken " + time_since(each.since, now);
    if (!each.why.empty()) text += ": " + each.why;
    oldest = oldest == SteadyTime{} ? each.since : std::min(oldest, each.since);
  }
  board.update([&](ReplicationProgress& told) {
    told.slow_reading = text;
    told.slow_since = oldest;
  });
  log(slow, now);
}

// Without times, so that the log recognizes the same line.
void SlowReadings::log(const std::vector<Slow>& slow, SteadyTime now) {
  std::string line;
  for (const Slow& each : slow) {
    line +=
        (line.empty() ? "" : "; ") + each.what + " takes long" + (each.why.empty() ? "" : ": " + each.why);
  }
  if (line == logged_) return;
  if (line.empty()) {
    spdlog::info("the slow reading is over, after {}", time_since(since_, now));
  } else {
    if (logged_.empty()) since_ = slow.front().since;
    spdlog::warn("{}", line);
  }
  logged_ = line;
}

}  // namespace lockstep
