// `lockstep status`: shows how a pipeline is, whichever process runs it and wherever.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <iostream>
#include <utility>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/sparkline.h"
#include "replicator/cli/text/status_screen.h"
#include "replicator/cli/text/status_text.h"
#include "replicator/cli/verb.h"
#include "replicator/error.h"
#include "replicator/pause.h"
#include "replicator/process/full_screen.h"
#include "replicator/process/stop_signals.h"
#include "replicator/process/terminal.h"
#include "replicator/service/watched_status.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{1'000};
constexpr std::chrono::milliseconds kRedraw{500};
constexpr std::chrono::milliseconds kFirstLook{50};
constexpr std::chrono::milliseconds kInterest{10'000};

// "12:03:59", of this machine.
std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

class Status final : public Verb {
 public:
  const char* name() const override { return "status"; }
  const char* summary() const override { return "Show state, lag, rates and dead letters, index by index"; }
  const char* example() const override {
    return "lockstep status -c shop.toml --watch\nlockstep status -c shop.toml --json | jq .lag.seconds";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options.flag("--watch", watch_, "Show the status again every second, until q or Ctrl-C");
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
    require_applied(config, status);
    return ExitCode::kDone;
  }

 private:
  static void require_applied(const Config& config, const std::optional<PipelineStatus>& status) {
    if (!status)
      throw UsageError("pipeline " + config.pipeline + " has not been applied; run `lockstep apply`");
  }

  std::string text_of(const Config& config, const std::optional<PipelineStatus>& status) const {
    return json_ ? status_json(config.pipeline, status) + "\n" : status_text(config.pipeline, status);
  }

  // Ends on request, or when its output has no reader any more.
  void watch(const Config& config) const {
    const StopSignals signals;
    const SystemClock clock;
    require_applied(config, open_status_reader(config)->read());  // reports now what waiting would not fix
    WatchedStatus watched([&] { return open_status_reader(config); }, clock, {kWatchInterval, kInterest});
    if (redraws() && !json_) return draw(config, watched, signals.token());
    while (std::cout) {
      const WatchedStatus::Look look = watched.look();
      if (look.is_known) print(config, look);
      if (!pause(kWatchInterval, signals.token())) return;
    }
  }

  void print(const Config& config, const WatchedStatus::Look& look) const {
    if (!look.trouble.empty()) {
      std::cerr << "lockstep: " << look.trouble << '\n';
    } else if (json_) {
      std::cout << status_json(config.pipeline, look.status) << std::endl;
    } else {
      std::cout << time_of_day() << " pipeline " << config.pipeline << ": " << status_line(look.status)
                << std::endl;
    }
  }

  void draw(const Config& config, WatchedStatus& watched, const std::stop_token& stop) const {
    const Glyphs glyphs = glyphs_of_terminal();
    StatusTrends trends;
    SteadyTime added{};
    FullScreen screen;
    while (!stop.stop_requested()) {
      const WatchedStatus::Look look = watched.look();
      if (look.status && std::exchange(added, look.read_at) != look.read_at) trends.add(*look.status);
      const FullScreen::Size size = screen.size();
      if (look.is_known) {
        screen.draw(status_screen(
            config.pipeline, look.status, trends, look.trouble,
            {static_cast<std::size_t>(size.columns), static_cast<std::size_t>(size.lines)}, glyphs));
      }
      const std::optional<char> key = screen.key(look.is_known ? kRedraw : kFirstLook, stop);
      if (key == 'q' || key == 'Q') return;
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
