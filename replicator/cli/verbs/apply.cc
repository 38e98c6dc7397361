// `lockstep apply`: creates or changes everything that a pipeline needs, on both sides.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/both_sides.h"
#include "replicator/log/log_command.h"

namespace lockstep {
namespace {

class Apply final : public Verb {
 public:
  const char* name() const override { return "apply"; }
  const char* summary() const override { return "Create or change schema, triggers, indices and aliases"; }
  const char* example() const override {
    return "lockstep apply -c shop.toml --as postgresql://shop_owner@/shop";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
    yes_.add_to(options, YesOption::WithoutTerminal::kNoQuestion);
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    BothSides sides(config);
    const DeploymentPlan plan = sides.deployment.plan();
    if (plan.empty()) {
      std::cout << "nothing to do\n";
      return ExitCode::kDone;
    }
    const bool asks = plan.obstacles.empty() && yes_.asks();
    if (asks) {
      std::cout << plan_text(plan.steps, Sql::kHidden, colour_of_output());
      if (!yes_.confirms("Apply this?")) return ExitCode::kFailed;
    }
    log_command("apply", config.pipeline);
    sides.deployment.apply({.step =
                                [&](const PlanStep& step) {
                                  if (!asks && !step.object.empty())
                                    std::cout << step_text(step, Sql::kHidden, colour_of_output())
                                              << std::flush;
                                },
                            .waiting = [](const std::string& reason) { std::cerr << reason << '\n'; }});
    std::cerr << "applied " << config.pipeline << "; `lockstep run` fills new indices\n";
    return ExitCode::kDone;
  }

 private:
  PipelineOption pipeline_;
  YesOption yes_;
};

}  // namespace

std::unique_ptr<Verb> make_apply_verb() {
  return std::make_unique<Apply>();
}

}  // namespace lockstep
