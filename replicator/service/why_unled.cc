#include "replicator/service/why_unled.h"

#include "replicator/error.h"
#include "replicator/service/leader_report.h"

namespace lockstep {

std::string why_unled(const std::optional<PipelineStatus>& status) {
  if (!status || !is_running(*status)) return "nobody leads the pipeline: start `lockstep run`";
  std::string text = "nobody leads the pipeline yet: " + status->leader->host + ", process " +
                     std::to_string(status->leader->pid) + ", runs";
  if (!status->leader->reason.empty()) text += " and waits: " + status->leader->reason;
  return text;
}

std::string why_unled(const std::function<std::unique_ptr<StatusReader>()>& open_reader) {
  try {
    return why_unled(open_reader()->read());
  } catch (const Error& error) {
    return std::string("nobody leads the pipeline, and whether a process runs cannot be read: ") +
           error.what();
  }
}

}  // namespace lockstep
