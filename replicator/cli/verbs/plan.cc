// `lockstep plan`: shows the steps of `apply`, and the privileges that `run` needs.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/plan_json.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/both_sides.h"

namespace lockstep {
namespace {

class Plan final : public Verb {
 public:
  const char* name() const override { return "plan"; }
  const char* summary() const override { return "Print the changes that apply would make"; }
  const char* example() const override {
    return "lockstep plan -c shop.toml\nlockstep plan -c shop.toml --as postgresql://shop_owner@/shop --sql";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
    options
        .option("--role", role_,
                "The role of `lockstep run`, for the GRANT statements; default: the user of source.url")
        .value_name("NAME");
    Option sql = options.flag("--sql", sql_, "Print the SQL statements, too");
    sql.excludes(
        options.flag("--json", json_, "Print one JSON object (docs/migrations.md explains its keys)"));
    options.flag("--exit-code", exit_code_, "Exit with 3 when there is something to do");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    BothSides sides(config);
    const DeploymentPlan plan = sides.deployment.plan();
    const std::string& role = role_.empty() ? pipeline_.configured_user() : role_;
    const std::vector<std::string> grants = grants_for(role, *sides.source);
    if (json_) {
      std::cout << plan_json(config.pipeline, plan, grants) << '\n';
    } else {
      print(plan);
      std::cout << grants_text(role, grants);
    }
    if (!plan.obstacles.empty()) return ExitCode::kFailed;
    return exit_code_ && !plan.steps.empty() ? ExitCode::kDifference : ExitCode::kDone;
  }

 private:
  void print(const DeploymentPlan& plan) const {
    std::cout << plan_text(plan.steps, sql_ ? Sql::kShown : Sql::kHidden, colour_of_output());
    for (const Finding& obstacle : plan.obstacles)
      std::cout << "! cannot apply: " << to_line(obstacle) << '\n';
    for (const IndexPlan& index : plan.indices) std::cout << ways_text(index);
    if (!plan.steps.empty()) std::cout << count_text(plan.steps);
    if (plan.empty()) std::cout << "nothing to do\n";
  }

  // The role of `apply` owns its objects, and needs no grant.
  std::vector<std::string> grants_for(const std::string& role, SourceDefinition& source) const {
    if (role.empty() || (role_.empty() && role == source.user())) return {};
    return source.privileges_for(role);
  }

  PipelineOption pipeline_;
  std::string role_;
  bool sql_ = false;
  bool json_ = false;
  bool exit_code_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_plan_verb() {
  return std::make_unique<Plan>();
}

}  // namespace lockstep
