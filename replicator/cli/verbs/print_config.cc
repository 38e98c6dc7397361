// `lockstep print-config`: prints a configuration with its defaults, or a sample.
#include <iostream>

#include "replicator/cli/options/config_file_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/verb.h"
#include "replicator/config/config_text.h"

namespace lockstep {
namespace {

class PrintConfig final : public Verb {
 public:
  const char* name() const override { return "print-config"; }
  const char* summary() const override {
    return "Print the configuration in force, or a sample with every key";
  }
  const char* example() const override {
    return "lockstep print-config --sample > /etc/lockstep/lockstep.toml";
  }

  void add_options(Options options) override {
    const Option config = config_.add_to(options, "The pipeline's configuration file");
    options.flag("--sample", sample_, "Print a file to edit: every key with its meaning and default")
        .excludes(config);
  }

  ExitCode run() override {
    std::cout << (sample_ ? sample_config() : config_text(load_config(config_.file())));
    return ExitCode::kDone;
  }

 private:
  ConfigFileOption config_;
  bool sample_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_print_config_verb() {
  return std::make_unique<PrintConfig>();
}

}  // namespace lockstep
