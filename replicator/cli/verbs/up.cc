// `lockstep up`: check, plan, apply and run, one after the other and without a question. For a first try.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/both_sides.h"
#include "replicator/cli/verbs/checking.h"
#include "replicator/cli/verbs/following.h"

namespace lockstep {
namespace {

class Up final : public Verb {
 public:
  const char* name() const override { return "up"; }
  const char* summary() const override { return "Check, plan, apply and run in one step, for a first try"; }
  const char* example() const override {
    return "lockstep up -c orders/orders.toml\nlockstep up -c orders/orders.toml --until-caught-up";
  }
  Audience audience() const override { return Audience::kJournal; }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.flag("--until-caught-up", until_caught_up_, "End as soon as nothing is pending");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    say("check");
    if (const ExitCode found = check_pipeline(config); found != ExitCode::kDone) return found;
    apply(config);
    say("run");
    follow_pipeline(pipeline_, until_caught_up_ ? RunUntil::kCaughtUp : RunUntil::kStopped);
    return ExitCode::kDone;
  }

 private:
  static void say(const char* step) { std::cerr << "== " << step << '\n'; }

  static void apply(const Config& config) {
    BothSides sides(config);
    say("plan");
    const DeploymentPlan plan = sides.deployment.plan();
    std::cout << (plan.empty() ? "nothing to do\n" : plan_text(plan.steps, Sql::kHidden, colour_of_output()))
              << std::flush;
    if (plan.empty()) return;
    say("apply");
    sides.deployment.apply(
        {.step = {}, .waiting = [](const std::string& reason) { std::cerr << reason << '\n'; }});
  }

  PipelineOption pipeline_;
  bool until_caught_up_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_up_verb() {
  return std::make_unique<Up>();
}

}  // namespace lockstep
