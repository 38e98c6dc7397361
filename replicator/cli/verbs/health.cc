// `lockstep health`: asks the service on this machine whether it is well.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/verb.h"
#include "replicator/service/health_probe.h"

namespace lockstep {
namespace {

class HealthVerb final : public Verb {
 public:
  const char* name() const override { return "health"; }
  const char* summary() const override { return "Ask the service on this machine whether it is well"; }
  const char* example() const override { return "lockstep health -c shop.toml --ready"; }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.flag("--ready", ready_, "Ask /readyz, whether it applies changes, instead of /healthz");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    if (config.http.listen.empty()) {
      throw UsageError(
          config.file.string() +
          ": [http] listen has no value, so the service does not answer; set listen = \"127.0.0.1:9464\"");
    }
    const ProbeAnswer answer =
        ask_health(config.http.listen, ready_ ? "/readyz" : "/healthz", config.file.string());
    std::cout << answer.text << '\n';
    return answer.verdict == Verdict::kGood ? ExitCode::kDone : ExitCode::kFailed;
  }

 private:
  PipelineOption pipeline_;
  bool ready_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_health_verb() {
  return std::make_unique<HealthVerb>();
}

}  // namespace lockstep
