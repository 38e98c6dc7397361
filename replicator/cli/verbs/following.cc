#include "replicator/cli/verbs/following.h"

#include <chrono>
#include <optional>

#include "replicator/cli/text/catch_up_display.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/log/log.h"
#include "replicator/process/reload_signal.h"
#include "replicator/process/stop_signals.h"
#include "replicator/service/credential_watch.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kCredentialsInterval{2};

}  // namespace

void follow_pipeline(PipelineOption& pipeline, RunUntil until) {
  LiveConfig live(pipeline.load(), make_transport_factory);
  const auto config = live.values().config;
  set_log_field("pipeline", config->pipeline);
  start_logging(config->log.format, config->log.level);
  const ReloadSignal reload([&] { live.reload([&] { return pipeline.load(); }); });
  const StopSignals signals;
  const CredentialWatch credentials(live, kCredentialsInterval);
  ProgressBoard board;
  std::optional<CatchUpDisplay> display;
  if (until == RunUntil::kCaughtUp) display.emplace(board);
  run_service(live, until, board, signals.token());
}

}  // namespace lockstep
