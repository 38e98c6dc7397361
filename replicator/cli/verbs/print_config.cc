// `lockstep print-config`: prints a configuration with its defaults, or a sample.
#include <CLI/CLI.hpp>
#include <iostream>

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

  void add_options(CLI::App& app) override {
    auto* config = app.add_option("-c,--config", file_, "The pipeline's configuration file")
                       ->envname("LOCKSTEP_CONFIG")
                       ->type_name("FILE")
                       ->capture_default_str();
    app.add_flag("--sample", sample_, "Print every key with its meaning and its default, to be edited")
        ->excludes(config);
  }

  ExitCode run() override {
    std::cout << (sample_ ? sample_config() : config_text(load_config(file_)));
    return ExitCode::kDone;
  }

 private:
  std::string file_ = "/etc/lockstep/lockstep.toml";
  bool sample_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_print_config_verb() {
  return std::make_unique<PrintConfig>();
}

}  // namespace lockstep
