// `lockstep status`: says how a pipeline is, whoever runs it and wherever.
#include <chrono>
#include <iostream>
#include <thread>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/status_text.h"
#include "replicator/cli/verb.h"
#include "replicator/error.h"
#include "replicator/process/terminal.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kWatchInterval{1};
constexpr const char* kClearScreen = "\033[H\033[2J";

class Status final : public Verb {
 public:
  const char* name() const override { return "status"; }
  const char* summary() const override { return "Show state, lag, rates and dead letters, index by index"; }
  const char* example() const override {
    return "lockstep status -c shop.toml --watch\nlockstep status -c shop.toml --json | jq .lag.seconds";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.flag("--watch", watch_, "Show the status again every second until interrupted");
    options.flag("--json", json_, "Print one JSON object (docs/monitoring.md explains its keys)");
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    if (watch_) {
      watch(config);
      return ExitCode::kDone;
    }
    const std::optional<PipelineStatus> status = open_status_reader(config)->read();
    std::cout << text_of(config, status) << std::flush;
    if (!status)
      throw UsageError("pipeline " + config.pipeline + " has not been applied; run `lockstep apply`");
    return ExitCode::kDone;
  }

 private:
  std::string text_of(const Config& config, const std::optional<PipelineStatus>& status) const {
    return json_ ? status_json(config.pipeline, status) + "\n" : status_text(config.pipeline, status);
  }

  // Ends when the process is interrupted, or when nobody reads its output any more.
  void watch(const Config& config) const {
    std::unique_ptr<StatusReader> reader;
    while (std::cout) {
      std::string text;
      try {
        if (!reader) reader = open_status_reader(config);
        text = text_of(config, reader->read());
      } catch (const Error& error) {
        if (!error.retryable()) throw;
        reader.reset();
        std::cerr << "lockstep: " << error.what() << '\n';
      }
      if (!text.empty()) std::cout << (redraws() && !json_ ? kClearScreen : "") << text << std::flush;
      std::this_thread::sleep_for(kWatchInterval);
    }
  }

  PipelineOption pipeline_;
  bool watch_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_status_verb() {
  return std::make_unique<Status>();
}

}  // namespace lockstep
