#include "replicator/cli/verbs/finish_work.h"

#include <chrono>

#include "replicator/cli/text/progress_line.h"
#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/pause.h"
#include "replicator/pipeline/leader.h"
#include "replicator/process/stop_signals.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

}  // namespace

void finish_work(const Config& config, Source& source, const BulkWriter::TransportFactory& transports,
                 const AddedWork& work) {
  const StopSignals signals;
  const SystemClock clock;
  ProgressBoard board;
  ProgressLine line;
  while (!signals.token().stop_requested()) {
    if (source.lead().try_lead()) {
      Leader({config, source, transports, board, clock}).run(RunUntil::kCaughtUp, signals.token());
      break;
    }
    if (work.is_done(source.changes())) break;
    if (line.due()) line.show("waiting for the process that leads");
    pause(kPoll, signals.token());
  }
  if (signals.token().stop_requested()) {
    throw Error({"waiting until the documents are written", "interrupted", "`lockstep run` writes the rest"});
  }
}

}  // namespace lockstep
