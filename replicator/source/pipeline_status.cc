#include "replicator/source/pipeline_status.h"

#include <cmath>

namespace lockstep {

std::optional<std::chrono::milliseconds> time_left(const IndexStatus::Job& job) {
  if (!job.total || job.done <= 0 || job.done > *job.total) return std::nullopt;
  const double of_done = static_cast<double>(*job.total - job.done) / static_cast<double>(job.done);
  return std::chrono::milliseconds(std::llround(static_cast<double>(job.age.count()) * of_done));
}

std::string in_words(const LeadHolder& stranger) {
  const std::string session = stranger.pid == 0 ? "a prepared transaction"
                                                : "session " + std::to_string(stranger.pid) + " of role " +
                                                      stranger.user + " (" + stranger.application + ")";
  return session +
         " holds the lock of the lead, and is no lockstep; the leader does without that lock, but end "
         "this: " +
         (stranger.pid == 0 ? "see pg_prepared_xacts"
                            : "select pg_terminate_backend(" + std::to_string(stranger.pid) + ")");
}

}  // namespace lockstep
