// `lockstep check`: finds faults between a configuration and its two servers, and changes nothing.
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/verb.h"
#include "replicator/cli/verbs/checking.h"

namespace lockstep {
namespace {

class Check final : public Verb {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override {
    return "Check the configuration, the views, the tracks, the privileges and both connections";
  }
  const char* example() const override { return "lockstep check -c shop.toml"; }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
  }

  ExitCode run() override { return check_pipeline(pipeline_.load()); }

 private:
  PipelineOption pipeline_;
};

}  // namespace

std::unique_ptr<Verb> make_check_verb() {
  return std::make_unique<Check>();
}

}  // namespace lockstep
