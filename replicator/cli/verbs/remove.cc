// `lockstep remove`: removes the objects of `apply` from the database.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/options/yes_option.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/both_sides.h"
#include "replicator/error.h"
#include "replicator/log/log_command.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

class Remove final : public Verb {
 public:
  const char* name() const override { return "remove"; }
  const char* summary() const override {
    return "Remove the triggers and Lockstep's schema from the database";
  }
  const char* example() const override {
    return "lockstep remove -c shop.toml\nlockstep remove -c shop.toml --indices --yes";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
    options.flag("--indices", indices_, "Delete the pipeline's indices, too");
    yes_.add_to(options, YesOption::WithoutTerminal::kRefuse);
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    yes_.require_answer("remove asks before it drops anything");
    const Indices indices = indices_ ? Indices::kDeleted : Indices::kKept;
    BothSides sides(config);
    const DeploymentPlan plan = sides.deployment.removal_plan(indices);
    if (plan.empty()) {
      std::cout << "nothing to do\n";
      return ExitCode::kDone;
    }
    refuse_while_it_runs(config, *sides.source);
    const bool asks = yes_.asks();
    if (asks) {
      std::cout << plan_text(plan.steps, Sql::kHidden, colour_of_output());
      if (!yes_.confirms("Remove this?")) return ExitCode::kFailed;
    }
    log_command(indices_ ? "remove --indices" : "remove", config.pipeline);
    sides.deployment.remove(indices,
                            {.step =
                                 [&](const PlanStep& step) {
                                   if (!asks && !step.object.empty())
                                     std::cout << step_text(step, Sql::kHidden, colour_of_output());
                                 },
                             .waiting = [](const std::string& reason) { std::cerr << reason << '\n'; }});
    std::cerr << "removed " << config.pipeline << '\n';
    if (!indices_) {
      std::cerr << "its indices stay; `lockstep adopt";
      for (const IndexConfig& index : config.indices) std::cerr << ' ' << index.alias;
      std::cerr << "` takes them over again\n";
    }
    return ExitCode::kDone;
  }

 private:
  // A running leader would find its tables and indices gone.
  static void refuse_while_it_runs(const Config& config, SourceDefinition& definition) {
    if (definition.identity().empty()) return;
    const std::unique_ptr<Source> source = open_source(config, "remove");
    if (!source->lead().is_led()) return;
    throw Error({"removing pipeline " + config.pipeline, "it is running",
                 "stop `lockstep run` first (`lockstep status` shows where)"});
  }

  PipelineOption pipeline_;
  bool indices_ = false;
  YesOption yes_;
};

}  // namespace

std::unique_ptr<Verb> make_remove_verb() {
  return std::make_unique<Remove>();
}

}  // namespace lockstep
