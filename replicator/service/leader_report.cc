#include "replicator/service/leader_report.h"

#include "replicator/service/readable.h"

namespace lockstep {

bool is_running(const PipelineStatus& status) {
  return status.leader && status.leader->age <= kSilentAfter && status.leader->state != kStoppedState;
}

std::string reason_of(const PipelineStatus& status) {
  if (!status.leader) return "it has never run";
  const std::string& reason = status.leader->reason;
  if (status.leader->state == kStoppedState) return reason.empty() ? "it was stopped" : reason;
  if (is_running(status)) return reason;
  return status.leader->host + ", process " + std::to_string(status.leader->pid) + ", has not reported for " +
         readable(status.leader->age);
}

}  // namespace lockstep
