// `lockstep run`: replicates, as a service or until nothing is pending.
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/following.h"

namespace lockstep {
namespace {

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
    follow_pipeline(pipeline_, until_caught_up_ ? RunUntil::kCaughtUp : RunUntil::kStopped);
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
