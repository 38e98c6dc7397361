#include "replicator/service/job_rates.h"

#include <cmath>
#include <utility>

namespace lockstep {
namespace {

// Pages of many jobs take turns, so that one alone advances by leaps.
constexpr std::chrono::seconds kWindow{60};

// Due work comes and goes: small changes at the rate of the application, then a large one as fast as it can
// be written. Within a shorter time work that does not stand still may not advance at all.
constexpr std::chrono::seconds kDueWindow = JobRates::kStands;

// The first page of two seconds shows little of how long hundreds take.
constexpr std::chrono::seconds kTooYoung{3};

}  // namespace

std::optional<std::chrono::milliseconds> time_left(std::int64_t done, std::optional<std::int64_t> total,
                                                   double documents_per_second) {
  if (!total || done > *total || documents_per_second <= 0) return std::nullopt;
  return std::chrono::milliseconds(
      std::llround(static_cast<double>(*total - done) * 1'000 / documents_per_second));
}

void JobRates::begin(Measured& work, const Count& count, SteadyTime now) {
  work = {count.taken_up_at, count.done, now, now, false, RateMeter(count.window)};
  work.rate.add(now, count.done);
}

void JobRates::add(Measured& work, const Count& count, SteadyTime now) {
  if (count.done > work.done) {
    work.done = count.done;
    work.advanced_at = now;
    work.has_advanced = true;
  } else if (!work.has_advanced || now - work.advanced_at >= kStands) {
    return begin(work, count, now);  // the time in which it stands is none of its rate
  }
  work.rate.add(now, count.done);
}

template <class Id>
std::map<Id, double> JobRates::measure(std::map<Id, Measured>& known, const std::map<Id, Count>& counts,
                                       SteadyTime now) {
  std::map<Id, Measured> measured;
  std::map<Id, double> rates;
  for (const auto& [id, count] : counts) {
    const auto before = known.find(id);
    Measured& work = measured[id];
    const bool goes_on = before != known.end() && before->second.taken_up_at == count.taken_up_at &&
                         count.done >= before->second.done && !count.waits;
    if (goes_on) {
      work = std::move(before->second);
      add(work, count, now);
    } else {
      begin(work, count, now);
    }
    if (work.has_advanced && now - work.begun_at >= kTooYoung) rates[id] = work.rate.per_second();
  }
  known = std::move(measured);
  return rates;
}

void JobRates::look(ProgressBoard& board, SteadyTime now) {
  const ReplicationProgress progress = board.read();
  std::map<JobId, Count> jobs;
  std::map<IndexId, Count> due;
  for (const auto& [id, index] : progress.indices) {
    if (!replicates(progress.state)) break;
    for (const JobStatus& job : index.jobs) jobs[job.id] = {job.taken_up_at, job.done, job.waits, kWindow};
    if (index.due) due[id] = {{}, index.due_written, false, kDueWindow};
  }
  std::map<JobId, double> job_rates = measure(jobs_, jobs, now);
  std::map<IndexId, double> due_rates = measure(due_, due, now);
  board.update([&](ReplicationProgress& told) {
    told.job_rates = std::move(job_rates);
    told.due_rates = std::move(due_rates);
  });
}

}  // namespace lockstep
