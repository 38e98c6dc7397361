// `lockstep run`: replicates, as a service or until nothing is pending.
#include <chrono>
#include <optional>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/catch_up_display.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/log.h"
#include "replicator/process/reload_signal.h"
#include "replicator/process/stop_signals.h"
#include "replicator/service/credential_watch.h"
#include "replicator/service/service.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kCredentialsInterval{2};

class Run final : public Verb {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override { return "Fill new indices, then follow changes until SIGTERM"; }
  const char* example() const override {
    return "lockstep run -c shop.toml\nlockstep run -c shop.toml --until-caught-up";
  }
  Audience audience() const override { return Audience::kJournal; }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.flag("--until-caught-up", until_caught_up_, "End as soon as nothing is pending");
  }

  ExitCode run() override {
    LiveConfig live(pipeline_.load(), make_transport_factory);
    const auto config = live.values().config;
    set_log_field("pipeline", config->pipeline);
    start_logging(LogFormat::kAuto, config->log.level);
    const ReloadSignal reload([&] { live.reload([&] { return pipeline_.load(); }); });
    const StopSignals signals;
    const CredentialWatch credentials(live, kCredentialsInterval);
    ProgressBoard board;
    std::optional<CatchUpDisplay> display;
    if (until_caught_up_) display.emplace(board);
    run_service(live, until_caught_up_ ? RunUntil::kCaughtUp : RunUntil::kStopped, board, signals.token());
    return ExitCode::kDone;
  }

 private:
  PipelineOption pipeline_;
  bool until_caught_up_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run_verb() {
  return std::make_unique<Run>();
}

}  // namespace lockstep
