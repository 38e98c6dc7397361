#include "replicator/service/no_leader_reason.h"

#include "replicator/error.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/readable.h"

namespace lockstep {

// Whether the process still runs is unknown: it may have been killed since its report.
std::string no_leader_reason(const std::optional<PipelineStatus>& status) {
  if (status && !status->obstacle.empty()) return status->obstacle;
  if (!status || !is_running(*status)) return "no process leads the pipeline: start `lockstep run`";
  std::string text = "no process leads the pipeline yet: " + status->leader->host + ", process " +
                     std::to_string(status->leader->pid) + ", reported " + readable(status->leader->age) +
                     " ago";
  if (!status->leader->reason.empty()) text += " that it waits: " + status->leader->reason;
  return text;
}

std::string no_leader_reason(const std::function<std::unique_ptr<StatusReader>()>& open_reader) {
  try {
    return no_leader_reason(open_reader()->read());
  } catch (const Error& error) {
    return std::string("no process leads the pipeline, and whether a process runs cannot be read: ") +
           error.what();
  }
}

std::string leader_waits(const std::optional<PipelineStatus>& status) {
  return status && is_running(*status) ? status->leader->reason : "";
}

Waiter::Words words_of_waits(std::function<std::unique_ptr<StatusReader>()> open_reader) {
  return {[open_reader] { return no_leader_reason(open_reader); },
          [open_reader]() -> std::string {
            try {
              return leader_waits(open_reader()->read());
            } catch (const Error& error) {
              return std::string("its status cannot be read: ") + error.what();
            }
          }};
}

}  // namespace lockstep
