#include "replicator/service/job_rates.h"

#include <cmath>
#include <utility>

namespace lockstep {
namespace {

// Pages of many jobs take turns, so that one alone advances by leaps.
constexpr std::chrono::seconds kWindow{60};

}  // namespace

std::optional<std::chrono::milliseconds> time_left(std::int64_t done, std::optional<std::int64_t> total,
                                                   double documents_per_second) {
  if (!total || done > *total || documents_per_second <= 0) return std::nullopt;
  return std::chrono::milliseconds(
      std::llround(static_cast<double>(*total - done) * 1'000 / documents_per_second));
}

void JobRates::begin(Measured& job, const JobStatus& status, SteadyTime now) {
  job = {status.taken_up_at, status.done, now, false, RateMeter(kWindow)};
  job.rate.add(now, status.done);
}

void JobRates::count(Measured& job, const JobStatus& status, SteadyTime now) {
  if (status.done > job.done) {
    job.done = status.done;
    job.advanced_at = now;
    job.has_advanced = true;
  } else if (!job.has_advanced || now - job.advanced_at >= kStands) {
    return begin(job, status, now);  // the time in which it stands is none of its rate
  }
  job.rate.add(now, status.done);
}

void JobRates::look(ProgressBoard& board, SteadyTime now) {
  const ReplicationProgress progress = board.read();
  std::map<JobId, Measured> jobs;
  std::map<JobId, double> rates;
  for (const auto& [id, index] : progress.indices) {
    if (!replicates(progress.state)) break;
    for (const JobStatus& status : index.jobs) {
      const auto known = jobs_.find(status.id);
      Measured& job = jobs[status.id];
      const bool goes_on = known != jobs_.end() && known->second.taken_up_at == status.taken_up_at &&
                           status.done >= known->second.done && !status.waits;
      if (goes_on) {
        job = std::move(known->second);
        count(job, status, now);
      } else {
        begin(job, status, now);
      }
      if (job.has_advanced) rates[status.id] = job.rate.per_second();
    }
  }
  jobs_ = std::move(jobs);
  board.update([&](ReplicationProgress& told) { told.job_rates = std::move(rates); });
}

}  // namespace lockstep
